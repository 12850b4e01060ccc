// Cluster: what the scheduler sees of a cluster at one moment: nodes, the shapes of pods,
// queues, and the pods that others placed. Pure values; nothing here decides.
//
// Invariants (CHECKed where a pass begins): every index points into its table; the names of
// nodes and of queues are unique; resources begin with cpu, memory, pods.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/selector.h"
#include "sched/amounts.h"

namespace trainyard::sched {

using Labels = std::map<std::string, std::string, std::less<>>;

enum class TaintEffect { kNoSchedule, kPreferNoSchedule, kNoExecute };

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::kNoSchedule;
  bool operator==(const Taint&) const = default;
};

struct Toleration {
  std::string key;  // "" with exists: every key
  bool exists = false;
  std::string value;
  std::optional<TaintEffect> effect;  // absent: every effect
  bool operator==(const Toleration&) const = default;
};

struct Node {
  std::string name;
  Labels labels;
  std::vector<Taint> taints;
  bool cordoned = false;
  bool ready = true;
  Amounts allocatable;
  bool operator==(const Node&) const = default;
};

// One term of a node affinity: all of its requirements hold.
struct NodeTerm {
  std::vector<kube::Requirement> labels;
  std::vector<kube::Requirement> fields;  // metadata.name only
  bool operator==(const NodeTerm&) const = default;
};

struct PreferredNodes {
  int weight = 1;
  NodeTerm term;
  bool operator==(const PreferredNodes&) const = default;
};

// Which nodes a pod may be on, whatever is free there.
struct NodeRule {
  Labels selector;
  std::vector<NodeTerm> required;  // one of them holds; empty: no such demand
  std::vector<PreferredNodes> preferred;
  std::vector<Toleration> tolerations;
  std::optional<std::vector<std::string>> allowed;  // where its volumes are reachable; sorted
  bool operator==(const NodeRule&) const = default;
};

// "Near pods like these": a term of a pod (anti-)affinity.
struct PodTerm {
  std::vector<kube::Requirement> selector;
  std::optional<std::vector<std::string>> namespaces;  // sorted; absent: all
  std::string topology_key;
  bool operator==(const PodTerm&) const = default;
};

struct PreferredPods {
  int weight = 1;  // negative: rather not near them
  int term = 0;
  bool operator==(const PreferredPods&) const = default;
};

struct HostPort {
  std::string ip;  // "" or 0.0.0.0: every address
  std::string protocol = "TCP";
  int port = 0;
  bool operator==(const HostPort&) const = default;
};

// Where claims get volumes: one that somebody made, or room in which they are made.
struct VolumeSource {
  std::string volume;                     // its name; "": one is made when a pod has a node
  std::optional<std::vector<int>> nodes;  // from which it is reached; into Cluster::nodes; absent: all
  int64_t room = 0;                       // bytes; a volume that is there is taken whole
  bool operator==(const VolumeSource&) const = default;
};

// A claim without a volume, which gets one together with the nodes of the pods that mount it.
struct Claim {
  std::string key;  // "namespace/name"
  std::string storage_class;
  int64_t size = 0;
  std::vector<int> sources;  // into Cluster::sources; the first that is free and reached is taken
  bool operator==(const Claim&) const = default;
};

// All pods that are alike, as far as placing them goes: of their labels those that some PodTerm asks for.
struct PodClass {
  Amounts requests;
  int node_rule = 0;  // into Cluster::node_rules
  std::string ns;
  Labels labels;
  std::vector<HostPort> ports;
  std::vector<int> near;   // required affinity; into Cluster::pod_terms
  std::vector<int> apart;  // required anti-affinity
  std::vector<PreferredPods> preferred;
  std::vector<int> claims;  // those without a volume; into Cluster::claims
  bool operator==(const PodClass&) const = default;
};

// A pod that holds a place but is none of ours to move.
struct OtherPod {
  int node = 0;
  int pod_class = 0;
  bool leaving = false;
  bool operator==(const OtherPod&) const = default;
};

inline constexpr int64_t kNoneOfIt = -1;  // in a Queue's capacity

struct Queue {
  std::string name;
  int weight = 1;
  int priority = 0;
  Amounts capacity;   // most it may hold: most_of()
  Amounts guarantee;  // kept free for it
  Amounts deserved;   // its fair part when stated; else by weight
  bool closed = false;
  bool preemptible = true;                             // whether other queues may take from it
  std::optional<std::vector<std::string>> namespaces;  // sorted; absent: all
  std::vector<kube::Requirement> node_selector;        // the nodes it may use
  bool operator==(const Queue&) const = default;
};

struct Cluster {
  std::vector<std::string> resources = {"cpu", "memory", "pods"};
  std::vector<NodeRule> node_rules;
  std::vector<PodTerm> pod_terms;
  std::vector<PodClass> classes;
  std::vector<Node> nodes;
  std::vector<OtherPod> others;
  std::vector<Queue> queues;
  std::vector<VolumeSource> sources;
  std::vector<Claim> claims;
  bool operator==(const Cluster&) const = default;
};

// The most that the queue may hold of the resource; nullopt: as much as there is. In its capacity 0 stands
// for what is not stated.
std::optional<int64_t> most_of(const Queue& queue, int resource);

bool holds(const kube::Requirement& requirement, const Labels& labels);
bool hold_all(const std::vector<kube::Requirement>& requirements, const Labels& labels);

// "zone=a,gpu in (a100,h100)"; "" for no requirement.
std::string requirements_text(const std::vector<kube::Requirement>& requirements);

}  // namespace trainyard::sched
