#include "sched/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sched/asked.h"

namespace trainyard::sched {
namespace {

// Needed pods that ask for the same of nodes and of neighbours. They may differ in labels, as a chief does.
struct Alike {
  std::vector<int> classes;  // of each

  int pods() const { return static_cast<int>(classes.size()); }
};

bool ask_the_same(const PodClass& a, const PodClass& b) {
  return a.node_rule == b.node_rule && a.ports == b.ports && a.near == b.near && a.apart == b.apart;
}

std::vector<Alike> alike_in(const Pass& pass, int g) {
  std::vector<Alike> out;
  for (int m : needed_members(pass.gang(g), pass.needs_of(g))) {
    int pod_class = pass.gang(g).members[static_cast<size_t>(m)].pod_class;
    auto same = std::find_if(out.begin(), out.end(), [&](const Alike& one) {
      return ask_the_same(pass.tables.pod_class(one.classes.front()), pass.tables.pod_class(pod_class));
    });
    if (same == out.end()) same = out.insert(same, Alike{});
    same->classes.push_back(pod_class);
  }
  return out;
}

// How many of them fit without the rest of their gang, and what keeps more from most of the nodes with room.
struct Tried {
  int fit = 0;
  int left_over = -1;                 // the class of one that does not fit
  std::vector<Hindrance> hindrances;  // several when none keeps them from more nodes than the others
};

Tried try_alone(Pass& pass, int g, const Alike& wanted) {
  Tried out;
  std::vector<int> nodes = nodes_of(pass, g, wanted.classes.front());
  size_t mark = pass.state.mark();
  std::map<int, size_t> from;  // by class: nodes before this one take no more of it
  for (int c : wanted.classes) {
    size_t& at = from[c];
    while (at < nodes.size() &&
           !(pass.state.room_for(nodes[at], c) > 0 && pass.state.tolerates(nodes[at], c) &&
             pass.state.is_near(nodes[at], c, false))) {
      ++at;
    }
    if (at == nodes.size()) {
      out.left_over = c;
      continue;
    }
    pass.state.take(nodes[at], c, 1);
    ++out.fit;
  }
  std::map<Hindrance, int> counts;
  int most = 0;
  for (int n : nodes) {
    if (out.left_over < 0 || pass.state.room_for(n, out.left_over) <= 0) continue;
    std::optional<Hindrance> found = pass.state.hindrance(n, out.left_over);
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

std::string say(Pass& pass, int g, int pods, const Tried& tried, const Hindrance& why, bool with_holder) {
  int pod_class = tried.left_over;
  std::string needs = "needs " + pods_text(pods) + on_nodes(pass, g, pod_class);
  std::string fit = fmt::format("{} fit{}", tried.fit, tried.fit == 1 ? "s" : "");
  if (why.by == Hindrance::By::kPort) {
    int port = pass.tables.pod_class(pod_class).ports[static_cast<size_t>(why.which)].port;
    return fmt::format("{} with host port {}, one to a node; {}{}", needs, port, fit,
                       with_holder ? holder_text(pass, g, pod_class, port) : "");
  }
  const std::string& key = pass.cluster.pod_terms[static_cast<size_t>(why.which)].topology_key;
  std::string others = pods_like(pass, pod_class, why.which);
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
           return std::any_of(one.classes.begin(), one.classes.end(),
                              [&](int c) { return pass.tables.matches(hindrance.which, c); });
         });
}

}  // namespace

std::string neighbours_text(Pass& pass, int g, bool with_holder) {
  std::vector<Alike> all = alike_in(pass, g);
  for (const Alike& one : all) {
    bool looks_around = std::any_of(one.classes.begin(), one.classes.end(),
                                    [&](int c) { return pass.tables.looks_around(c); });
    if (!looks_around) continue;
    Tried tried = try_alone(pass, g, one);
    std::set<std::string> words;  // the order of terms in the input does not show
    for (const Hindrance& why : tried.hindrances) {
      if (all.size() == 1 || !comes_with_it(pass, all, why))
        words.insert(say(pass, g, one.pods(), tried, why, with_holder));
    }
    if (!words.empty()) return *words.begin();
  }
  return "";
}

bool follows_others(const Pass& pass, int g) {
  std::vector<Alike> all = alike_in(pass, g);
  return std::any_of(all.begin(), all.end(), [&](const Alike& one) {
    const std::vector<int>& near = pass.tables.pod_class(one.classes.front()).near;
    return std::any_of(near.begin(), near.end(), [&](int term) { return pass.state.has_any(term); });
  });
}

}  // namespace trainyard::sched
