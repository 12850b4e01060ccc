#include "sched/asked.h"

#include <fmt/format.h>

#include "sched/fit.h"

namespace trainyard::sched {

std::vector<int> needed_members(const Gang& gang, const Needs& needs) {
  std::vector<int> role_left = needs.by_role;
  int others = needs.total;
  for (int left : role_left) others -= left;
  std::vector<int> out;
  for (int m : needs.waiting) {
    int& left = role_left[static_cast<size_t>(gang.members[static_cast<size_t>(m)].role)];
    if (left > 0) {
      --left;
      out.push_back(m);
    } else if (others > 0) {
      --others;
      out.push_back(m);
    }
  }
  return out;
}

std::vector<int> nodes_of(Pass& pass, int g, int pod_class) {
  NodeView& view = pass.views.of(pod_class, pass.queue_of(g));
  std::vector<int> out;
  for (int pos = 0; pos < view.size(); ++pos) out.push_back(view.node_at(pos));
  return out;
}

std::string on_nodes(const Pass& pass, int g, int pod_class) {
  int rule = pass.tables.pod_class(pod_class).node_rule;
  std::string wanted =
      wanted_nodes_text(pass.cluster.node_rules[static_cast<size_t>(rule)], pass.queue_at(g));
  return wanted.empty() ? "" : " on nodes " + wanted;
}

std::string pods_text(int count) { return fmt::format("{} pod{}", count, count == 1 ? "" : "s"); }

}  // namespace trainyard::sched
