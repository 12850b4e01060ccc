// For tests: a slow scheduler that is obviously right. It only knows whether a gang can be
// placed, by trying every assignment of members to nodes, the members that may be left out
// included. Written from the meaning of the fields, with nothing of the real one.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "sched/cluster.h"
#include "sched/gang.h"

namespace trainyard::sched::testing {

struct Where {
  int pod_class = 0;
  int node = 0;
};

class Reference {
 public:
  Reference(const Cluster& cluster, const std::vector<Gang>& gangs) : cluster_(cluster) {
    for (const OtherPod& pod : cluster.others) there_.push_back({pod.pod_class, pod.node});
    for (const Gang& gang : gangs) {
      for (const Member& member : gang.members) {
        bool on_node = member.state == MemberState::kPlaced || member.state == MemberState::kLeaving;
        if (on_node && member.node >= 0) there_.push_back({member.pod_class, member.node});
      }
    }
  }

  // Whether the gang can be made whole beside what is there now.
  bool can_place(const Gang& gang, const Queue& queue) {
    std::vector<int> waiting;
    for (size_t i = 0; i < gang.members.size(); ++i) {
      if (gang.members[i].state == MemberState::kWaiting) waiting.push_back(static_cast<int>(i));
    }
    return try_all(gang, queue, waiting, 0, {});
  }

  // Whether everything placed is as its own fields and the nodes allow. "" or what is wrong.
  std::string wrong(const std::vector<Where>& pods, bool ask_rules) const {
    std::map<int, Amounts> used;
    for (const Where& pod : pods) add(used[pod.node], of(pod).requests);
    for (const auto& [node, amounts] : used) {
      if (!fits_within(amounts, cluster_.nodes[static_cast<size_t>(node)].allocatable))
        return "node too full";
    }
    if (!ask_rules) return "";
    for (size_t i = 0; i < pods.size(); ++i) {
      for (size_t j = 0; j < pods.size(); ++j) {
        if (i != j && clash(pods[i], pods[j])) return "pods clash";
      }
    }
    return "";
  }

  // Whether these members (by index) may have come to these nodes: some of them at once, enough for the
  // gang, and the others after them, one by one. What a pod asks of others holds when it comes; who comes
  // later may go elsewhere.
  bool sound(const Gang& gang, const std::map<int, int>& placed) const {
    const std::vector<std::pair<int, int>> all(placed.begin(), placed.end());
    for (unsigned first = 0; first < 1u << all.size(); ++first) {
      std::map<int, int> at_once;
      std::map<int, int> after;
      for (size_t i = 0; i < all.size(); ++i) ((first >> i & 1u) != 0 ? at_once : after).insert(all[i]);
      if (enough(gang, at_once) && sound_at_once(gang, at_once) && may_follow(gang, at_once, after))
        return true;
    }
    return placed.empty();
  }

  // Whether these members may come to these nodes together, beside what is there.
  bool sound_at_once(const Gang& gang, const std::map<int, int>& placed) const {
    std::vector<Where> pods = there_;
    std::set<std::string> domains;
    for (const auto& [member, node] : placed) {
      pods.push_back({gang.members[static_cast<size_t>(member)].pod_class, node});
      domains.insert(domain(node, gang.domain_key));
    }
    for (const Member& member : gang.members) {
      if (member.state == MemberState::kPlaced && member.node >= 0)
        domains.insert(domain(member.node, gang.domain_key));
    }
    if (gang.domain_required && (domains.size() > 1 || domains.contains(""))) return false;
    if (!wrong(pods, false).empty()) return false;
    // What was there before may be wrong already; only what is new must be right.
    for (size_t i = there_.size(); i < pods.size(); ++i) {
      if (!is_right(pods, i)) return false;
    }
    return true;
  }

  const std::vector<Where>& there() const { return there_; }

 private:
  const PodClass& of(const Where& pod) const { return cluster_.classes[static_cast<size_t>(pod.pod_class)]; }

  bool allowed(const Where& pod, const Queue& queue) const {
    const Node& node = cluster_.nodes[static_cast<size_t>(pod.node)];
    const NodeRule& rule = cluster_.node_rules[static_cast<size_t>(of(pod).node_rule)];
    if (!node.ready || node.cordoned || !hold_all(queue.node_selector, node.labels)) return false;
    for (const auto& [key, value] : rule.selector) {
      if (!node.labels.contains(key) || node.labels.at(key) != value) return false;
    }
    bool demanded = rule.required.empty();
    for (const NodeTerm& term : rule.required) demanded = demanded || hold_all(term.labels, node.labels);
    bool reached = !rule.allowed;
    for (const std::string& name : rule.allowed.value_or(std::vector<std::string>{})) {
      reached = reached || name == node.name;
    }
    if (!demanded || !reached) return false;
    for (const Taint& taint : node.taints) {
      bool tolerated = false;
      for (const Toleration& one : rule.tolerations) tolerated = tolerated || one.key == taint.key;
      if (taint.effect == TaintEffect::kNoSchedule && !tolerated) return false;
    }
    return true;
  }

  std::string domain(int node, const std::string& key) const {
    const Node& of = cluster_.nodes[static_cast<size_t>(node)];
    if (of.labels.contains(key)) return of.labels.at(key);
    return key == "kubernetes.io/hostname" ? of.name : "";
  }
  bool same_domain(const Where& a, const Where& b, const std::string& key) const {
    return !domain(a.node, key).empty() && domain(a.node, key) == domain(b.node, key);
  }
  bool matches(int term, const Where& pod) const {
    return hold_all(cluster_.pod_terms[static_cast<size_t>(term)].selector, of(pod).labels);
  }

  bool clash(const Where& a, const Where& b) const {
    for (int term : of(a).apart) {
      if (matches(term, b) && same_domain(a, b, cluster_.pod_terms[static_cast<size_t>(term)].topology_key))
        return true;
    }
    if (a.node != b.node) return false;
    for (const HostPort& x : of(a).ports) {
      for (const HostPort& y : of(b).ports) {
        if (x.port == y.port) return true;
      }
    }
    return false;
  }

  bool is_near(const std::vector<Where>& pods, size_t i, int term) const {
    const std::string& key = cluster_.pod_terms[static_cast<size_t>(term)].topology_key;
    bool others_anywhere = false;
    for (size_t j = 0; j < pods.size(); ++j) {
      if (j == i || !matches(term, pods[j]) || domain(pods[j].node, key).empty()) continue;
      others_anywhere = true;
      if (same_domain(pods[i], pods[j], key)) return true;
    }
    return !others_anywhere && matches(term, pods[i]) && !domain(pods[i].node, key).empty();
  }

  bool is_right(const std::vector<Where>& pods, size_t i) const {
    for (size_t j = 0; j < pods.size(); ++j) {
      if (i != j && (clash(pods[i], pods[j]) || clash(pods[j], pods[i]))) return false;
    }
    const std::vector<int>& near = of(pods[i]).near;
    return std::all_of(near.begin(), near.end(), [&](int term) { return is_near(pods, i, term); });
  }

  // Whether there is an order in which the others come, each of them right when it does.
  bool may_follow(const Gang& gang, const std::map<int, int>& placed,
                  const std::map<int, int>& others) const {
    if (others.empty()) return true;
    return std::any_of(others.begin(), others.end(), [&](const std::pair<const int, int>& next) {
      std::vector<Where> pods = there_;
      std::map<int, int> now = placed;
      now.insert(next);
      std::map<int, int> left = others;
      left.erase(next.first);
      for (const auto& [member, node] : placed) {
        pods.push_back({gang.members[static_cast<size_t>(member)].pod_class, node});
      }
      pods.push_back({gang.members[static_cast<size_t>(next.first)].pod_class, next.second});
      return wrong(pods, false).empty() && is_right(pods, pods.size() - 1) && may_follow(gang, now, left);
    });
  }

  bool enough(const Gang& gang, const std::map<int, int>& placed) const {
    int total = 0;
    std::vector<int> by_role(gang.roles.size(), 0);
    for (size_t i = 0; i < gang.members.size(); ++i) {
      const Member& member = gang.members[i];
      bool counts = member.state == MemberState::kPlaced || member.state == MemberState::kSucceeded ||
                    placed.contains(static_cast<int>(i));
      total += counts;
      by_role[static_cast<size_t>(member.role)] += counts;
    }
    for (size_t role = 0; role < by_role.size(); ++role) {
      if (by_role[role] < gang.roles[role].min) return false;
    }
    return total >= gang.min_member;
  }

  bool try_all(const Gang& gang, const Queue& queue, const std::vector<int>& waiting, size_t at,
               std::map<int, int> placed) {
    if (enough(gang, placed) && sound_at_once(gang, placed)) return true;
    if (at == waiting.size()) return false;
    for (size_t n = 0; n < cluster_.nodes.size(); ++n) {
      Where pod{gang.members[static_cast<size_t>(waiting[at])].pod_class, static_cast<int>(n)};
      if (!allowed(pod, queue)) continue;
      placed[waiting[at]] = static_cast<int>(n);
      std::vector<Where> pods = there_;
      for (const auto& [member, node] : placed) {
        pods.push_back({gang.members[static_cast<size_t>(member)].pod_class, node});
      }
      if (wrong(pods, false).empty() && try_all(gang, queue, waiting, at + 1, placed)) return true;
      placed.erase(waiting[at]);
    }
    return try_all(gang, queue, waiting, at + 1, placed);
  }

  const Cluster& cluster_;
  std::vector<Where> there_;
};

}  // namespace trainyard::sched::testing
