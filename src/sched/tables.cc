#include "sched/tables.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/check.h"

namespace trainyard::sched {
namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";

bool term_matches(const PodTerm& term, const PodClass& pod) {
  if (term.namespaces && !std::binary_search(term.namespaces->begin(), term.namespaces->end(), pod.ns)) {
    return false;
  }
  return hold_all(term.selector, pod.labels);
}

}  // namespace

Tables::Tables(const Cluster& cluster) : cluster_(cluster) {
  CHECK(cluster.resources.size() >= kNamedResources);
  CHECK(cluster.resources[kCpu] == "cpu");
  CHECK(cluster.resources[kPodCount] == "pods");
  rank_nodes();
  for (size_t q = 0; q < cluster.queues.size(); ++q) {
    bool fresh = queues_.emplace(cluster.queues[q].name, static_cast<int>(q)).second;
    CHECK(fresh);
  }
  for (const PodClass& pod : cluster.classes) read_class(pod);
  read_terms();
}

bool Tables::follow() {
  if (cluster_.pod_terms.size() != term_domains_.size()) return false;
  for (size_t c = needs_.size(); c < cluster_.classes.size(); ++c) {
    const PodClass& pod = cluster_.classes[c];
    if (!pod.ports.empty() || !pod.apart.empty()) return false;
    read_class(pod);
    for (size_t term = 0; term < matches_.size(); ++term) {
      matches_[term].push_back(term_matches(cluster_.pod_terms[term], pod));
    }
    looks_around_.push_back(looks_around_at(c));
  }
  return true;
}

int Tables::find_queue(const std::string& name) const {
  auto found = queues_.find(name);
  return found == queues_.end() ? -1 : found->second;
}

void Tables::rank_nodes() {
  by_rank_.resize(cluster_.nodes.size());
  std::iota(by_rank_.begin(), by_rank_.end(), 0);
  auto name_of = [&](int i) -> const std::string& { return cluster_.nodes[static_cast<size_t>(i)].name; };
  auto name_before = [&](int a, int b) { return name_of(a) < name_of(b); };
  if (!std::is_sorted(by_rank_.begin(), by_rank_.end(), name_before)) {
    std::sort(by_rank_.begin(), by_rank_.end(), name_before);
  }
  rank_of_.resize(by_rank_.size());
  for (size_t rank = 0; rank < by_rank_.size(); ++rank) {
    rank_of_[static_cast<size_t>(by_rank_[rank])] = static_cast<int>(rank);
    CHECK(rank == 0 || name_of(by_rank_[rank - 1]) != name_of(by_rank_[rank]));
  }
  total_.assign(cluster_.resources.size(), 0);
  for (const Node& node : cluster_.nodes) {
    CHECK(node.allocatable.size() <= cluster_.resources.size());
    if (node.ready) add(total_, node.allocatable);
  }
}

void Tables::read_class(const PodClass& pod) {
  CHECK(pod.requests.size() <= cluster_.resources.size());
  CHECK(static_cast<size_t>(pod.node_rule) < cluster_.node_rules.size());
  for (int claim : pod.claims) CHECK(static_cast<size_t>(claim) < cluster_.claims.size());
  std::vector<Need> needs;
  for (size_t r = 0; r < pod.requests.size(); ++r) {
    if (pod.requests[r] > 0) needs.push_back({static_cast<int>(r), pod.requests[r]});
  }
  needs_.push_back(std::move(needs));
}

bool Tables::looks_around_at(size_t c) const {
  const PodClass& pod = cluster_.classes[c];
  bool shunned = std::any_of(apart_terms_.begin(), apart_terms_.end(),
                             [&](int term) { return matches(term, static_cast<int>(c)); });
  return shunned || !pod.ports.empty() || !pod.near.empty() || !pod.apart.empty() || !pod.claims.empty();
}

void Tables::read_terms() {
  std::set<int> apart;
  for (const PodClass& pod : cluster_.classes) apart.insert(pod.apart.begin(), pod.apart.end());
  apart_terms_.assign(apart.begin(), apart.end());
  for (const PodTerm& term : cluster_.pod_terms) {
    term_domains_.push_back(&domains(term.topology_key));
    std::vector<bool> row;
    for (const PodClass& pod : cluster_.classes) row.push_back(term_matches(term, pod));
    matches_.push_back(std::move(row));
  }
  for (size_t c = 0; c < cluster_.classes.size(); ++c) looks_around_.push_back(looks_around_at(c));
}

const Domains& Tables::domains(const std::string& key) const {
  auto [at, fresh] = domains_.try_emplace(key);
  if (!fresh) return at->second;
  auto label = [&](int rank) -> const std::string* {
    auto found = node(rank).labels.find(key);
    if (found != node(rank).labels.end()) return &found->second;
    return key == kHostname ? &node(rank).name : nullptr;
  };
  std::map<std::string, int> ids;
  for (int n = 0; n < nodes(); ++n) {
    if (const std::string* value = label(n)) ids.emplace(*value, 0);
  }
  for (auto& [name, id] : ids) {
    id = static_cast<int>(at->second.names.size());
    at->second.names.push_back(name);
  }
  for (int n = 0; n < nodes(); ++n) {
    const std::string* value = label(n);
    at->second.of_node.push_back(value == nullptr ? -1 : ids[*value]);
  }
  return at->second;
}

}  // namespace trainyard::sched
