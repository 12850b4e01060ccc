#include "sched/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sched/asked.h"

namespace trainyard::sched {
namespace {

// Needed pods of one class.
struct Alike {
  int pod_class = 0;
  int pods = 0;
};

std::vector<Alike> alike_in(const Pass& pass, int g) {
  std::vector<Alike> out;
  std::map<int, size_t> index;  // by first appearance
  for (int m : needed_members(pass.gang(g), pass.needs_of(g))) {
    int pod_class = pass.gang(g).members[static_cast<size_t>(m)].pod_class;
    auto [at, fresh] = index.try_emplace(pod_class, out.size());
    if (fresh) out.push_back({pod_class, 0});
    ++out[at->second].pods;
  }
  return out;
}

// How many of them fit without the rest of their gang, and what keeps more from most of the nodes with room.
struct Tried {
  int fit = 0;
  std::vector<Hindrance> hindrances;  // several when none keeps them from more nodes than the others
};

Tried try_alone(Pass& pass, int g, const Alike& wanted) {
  Tried out;
  int c = wanted.pod_class;
  std::vector<int> nodes = nodes_of(pass, g, c);
  size_t mark = pass.state.mark();
  for (int n : nodes) {
    while (out.fit < wanted.pods && pass.state.room_for(n, c) > 0 && pass.state.tolerates(n, c) &&
           pass.state.is_near(n, c, false)) {
      pass.state.take(n, c, 1);
      ++out.fit;
    }
  }
  std::map<Hindrance, int> counts;
  int most = 0;
  for (int n : nodes) {
    if (pass.state.room_for(n, c) <= 0) continue;
    std::optional<Hindrance> found = pass.state.hindrance(n, c);
    if (found) most = std::max(most, ++counts[*found]);
  }
  for (const auto& [hindrance, count] : counts) {
    if (count == most) out.hindrances.push_back(hindrance);
  }
  pass.state.roll_back(mark);
  return out;
}

// ", default/x has the port"; "" when it is nobody's that is known by name.
std::string holder_text(Pass& pass, int g, int pod_class, int port) {
  std::vector<int> nodes = nodes_of(pass, g, pod_class);
  std::set<int> there(nodes.begin(), nodes.end());
  for (int other : pass.by_id) {
    for (const Member& member : pass.gang(other).members) {
      if (member.state != MemberState::kPlaced || !there.contains(pass.tables.rank_of(member.node))) continue;
      const std::vector<HostPort>& ports = pass.tables.pod_class(member.pod_class).ports;
      bool has =
          std::any_of(ports.begin(), ports.end(), [&](const HostPort& one) { return one.port == port; });
      if (has) return fmt::format(", {}/{} has the port", pass.gang(other).ns, pass.gang(other).name);
    }
  }
  return "";
}

// "pods app=x", "another of the pods app=x" when it is one of them.
std::string pods_like(const Pass& pass, int pod_class, int term) {
  std::string selector = requirements_text(pass.cluster.pod_terms[static_cast<size_t>(term)].selector);
  return fmt::format("{}{}{}", pass.tables.matches(term, pod_class) ? "another of the pods" : "pods",
                     selector.empty() ? "" : " ", selector);
}

std::string say(Pass& pass, int g, const Alike& wanted, int fitting, const Hindrance& why, bool with_holder) {
  std::string needs = "needs " + pods_text(wanted.pods) + on_nodes(pass, g, wanted.pod_class);
  std::string fit = fmt::format("{} fit{}", fitting, fitting == 1 ? "s" : "");
  if (why.by == Hindrance::By::kPort) {
    int port = pass.tables.pod_class(wanted.pod_class).ports[static_cast<size_t>(why.which)].port;
    return fmt::format("{} with host port {}, one to a node; {}{}", needs, port, fit,
                       with_holder ? holder_text(pass, g, wanted.pod_class, port) : "");
  }
  const std::string& key = pass.cluster.pod_terms[static_cast<size_t>(why.which)].topology_key;
  std::string others = pods_like(pass, wanted.pod_class, why.which);
  switch (why.by) {
    case Hindrance::By::kPort:
      break;
    case Hindrance::By::kApart:
      return fmt::format("{}, none with the same {} as {} (anti-affinity); {}", needs, key, others, fit);
    case Hindrance::By::kMinded:
      return fmt::format(
          "{}; {}, elsewhere are pods that want none like them with the same {} (anti-affinity)", needs, fit,
          key);
    case Hindrance::By::kFar:
      return fmt::format("{} with the same {} as {} (affinity); {}", needs, key, others, fit);
    case Hindrance::By::kNobody:
      return fmt::format("{} with the same {} as {} (affinity); there are none", needs, key, others);
  }
  return "";
}

// Whether what it wants to be near comes with it.
bool comes_with_it(const Pass& pass, const std::vector<Alike>& all, const Hindrance& hindrance) {
  bool company = hindrance.by == Hindrance::By::kFar || hindrance.by == Hindrance::By::kNobody;
  return company && std::any_of(all.begin(), all.end(), [&](const Alike& one) {
           return pass.tables.matches(hindrance.which, one.pod_class);
         });
}

}  // namespace

std::string neighbours_text(Pass& pass, int g, bool with_holder) {
  std::vector<Alike> all = alike_in(pass, g);
  for (const Alike& one : all) {
    if (!pass.tables.looks_around(one.pod_class)) continue;
    Tried tried = try_alone(pass, g, one);
    if (tried.fit >= one.pods) continue;
    std::set<std::string> words;  // the order of terms in the input does not show
    for (const Hindrance& why : tried.hindrances) {
      if (all.size() == 1 || !comes_with_it(pass, all, why))
        words.insert(say(pass, g, one, tried.fit, why, with_holder));
    }
    if (!words.empty()) return *words.begin();
  }
  return "";
}

bool follows_others(const Pass& pass, int g) {
  std::vector<Alike> all = alike_in(pass, g);
  return std::any_of(all.begin(), all.end(), [&](const Alike& one) {
    const std::vector<int>& near = pass.tables.pod_class(one.pod_class).near;
    return std::any_of(near.begin(), near.end(), [&](int term) { return pass.state.has_any(term); });
  });
}

}  // namespace trainyard::sched
