// What a snapshot says, whatever its tables number: two of the same documents are compared by it.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sched/gangs_from.h"

namespace trainyard::sched::testing {

using Named = std::map<std::string, int64_t>;

inline Named by_name(const Cluster& cluster, const Amounts& amounts) {
  Named out;
  for (size_t r = 0; r < amounts.size(); ++r) {
    if (amounts[r] != 0) out[cluster.resources[r]] = amounts[r];
  }
  return out;
}

inline std::string term_text(const PodTerm& term) {
  std::string out = requirements_text(term.selector) + " by " + term.topology_key + " in";
  if (!term.namespaces) return out + " all";
  for (const std::string& ns : *term.namespaces) out += " " + ns;
  return out;
}

inline bool matches(const PodTerm& term, const PodClass& pod) {
  bool here =
      !term.namespaces || std::binary_search(term.namespaces->begin(), term.namespaces->end(), pod.ns);
  return here && hold_all(term.selector, pod.labels);
}

// The terms of classes that pods have.
inline std::set<int> terms_in_use(const Snapshot& snapshot) {
  std::set<int> out;
  auto read = [&](int c) {
    const PodClass& pod = snapshot.cluster.classes[static_cast<size_t>(c)];
    out.insert(pod.near.begin(), pod.near.end());
    out.insert(pod.apart.begin(), pod.apart.end());
    for (const PreferredPods& wish : pod.preferred) out.insert(wish.term);
  };
  for (const Gang& gang : snapshot.gangs) {
    for (const Member& member : gang.members) read(member.pod_class);
  }
  for (const OtherPod& pod : snapshot.cluster.others) read(pod.pod_class);
  return out;
}

// A class with what it refers to in place of the numbers.
struct ClassSaid {
  Named requests;
  NodeRule rule;
  PodClass pod;  // without labels
  std::vector<PodTerm> terms;
  std::set<std::string> matches;  // which of the terms that pods have
  std::vector<std::string> claims;
  bool operator==(const ClassSaid&) const = default;
};

inline ClassSaid said(const Cluster& cluster, const PodClass& from, const std::set<int>& terms) {
  ClassSaid out{by_name(cluster, from.requests),
                cluster.node_rules[static_cast<size_t>(from.node_rule)],
                {{}, 0, from.ns, {}, from.ports},
                {},
                {},
                {}};
  auto add = [&](int term) { out.terms.push_back(cluster.pod_terms[static_cast<size_t>(term)]); };
  for (const std::vector<int>* terms : {&from.near, &from.apart}) {
    std::for_each(terms->begin(), terms->end(), add);
    out.terms.emplace_back();
  }
  for (const PreferredPods& wish : from.preferred) {
    out.pod.preferred.push_back({wish.weight, 0});
    add(wish.term);
  }
  for (int term : terms) {
    const PodTerm& of = cluster.pod_terms[static_cast<size_t>(term)];
    if (matches(of, from)) out.matches.insert(term_text(of));
  }
  for (int claim : from.claims) out.claims.push_back(cluster.claims[static_cast<size_t>(claim)].key);
  return out;
}

inline std::string node_name(const Cluster& cluster, int node) {
  return node < 0 ? "" : cluster.nodes[static_cast<size_t>(node)].name;
}

struct GangSaid {
  Gang gang;  // without numbers
  Named min_resources;
  std::vector<std::pair<std::string, ClassSaid>> members;  // node and class
  Tally tally;
  std::string group;  // the id of the one it came from
  bool operator==(const GangSaid&) const = default;
};

struct SnapshotSaid {
  std::map<std::string, GangSaid> gangs;
  std::map<std::string, std::pair<Node, Named>> nodes;
  std::vector<std::tuple<Queue, Named, Named, Named>> queues;
  std::vector<std::tuple<std::string, Named, bool>> others;  // node, requests, leaving
  bool operator==(const SnapshotSaid&) const = default;
};

inline SnapshotSaid said(const Snapshot& snapshot) {
  SnapshotSaid out;
  const Cluster& cluster = snapshot.cluster;
  const std::set<int> terms = terms_in_use(snapshot);
  auto class_at = [&](int c) { return said(cluster, cluster.classes[static_cast<size_t>(c)], terms); };
  for (size_t g = 0; g < snapshot.gangs.size(); ++g) {
    GangSaid one{
        snapshot.gangs[g], by_name(cluster, snapshot.gangs[g].min_resources), {}, snapshot.tallies[g], ""};
    one.gang.min_resources.clear();
    for (Member& member : one.gang.members) {
      one.members.emplace_back(node_name(cluster, member.node), class_at(member.pod_class));
      member.node = member.node < 0 ? -1 : 0;
      member.pod_class = 0;
    }
    if (snapshot.group_of[g] != nullptr) one.group = snapshot.group_of[g]->id;
    out.gangs.emplace(one.gang.id, one);
  }
  for (Node node : cluster.nodes) {
    Named amounts = by_name(cluster, node.allocatable);
    node.allocatable.clear();
    out.nodes.emplace(node.name, std::pair(node, amounts));
  }
  for (Queue queue : cluster.queues) {
    std::tuple amounts(by_name(cluster, queue.capacity), by_name(cluster, queue.guarantee),
                       by_name(cluster, queue.deserved));
    queue.capacity = queue.guarantee = queue.deserved = {};
    out.queues.push_back(std::tuple_cat(std::tuple(queue), amounts));
  }
  for (const OtherPod& pod : cluster.others) {
    out.others.emplace_back(node_name(cluster, pod.node), class_at(pod.pod_class).requests, pod.leaving);
  }
  std::sort(out.others.begin(), out.others.end());
  return out;
}

}  // namespace trainyard::sched::testing
