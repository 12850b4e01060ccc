// gangs_from: from the documents of a cluster to what the scheduler decides on. Pure.
//
// Two steps, so that a loop reads each document once: see_pod, see_node and see_group when it
// changes, assemble for every pass. PodGroups of the four groups become gangs; a pod that names no group that
// exists is a gang of one; a pod of another scheduler only holds its place.
//   volcano, kube-batch  annotation scheduling.k8s.io/group-name (also scheduling.volcano.sh/)
//   scheduler-plugins    label scheduling.x-k8s.io/pod-group
//   t9k                  label scheduler.tensorstack.dev/group-name, or .../queue without a group
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/json.h"
#include "kube/objects.h"
#include "sched/cluster.h"
#include "sched/gang.h"
#include "sched/shape.h"
#include "sched/volumes.h"

namespace trainyard::sched {

// The pods and groups of one name, which form gangs with each other and with nobody else. Several names may
// have the same number.
uint64_t family_of(std::string_view ns, std::string_view name);

// How a pod names its group, which tells the groups it can mean.
enum class GroupNaming { kNone, kAnnotation, kCoscheduling, kT9k };

// What is read of one pod.
struct PodSeen {
  std::string uid;
  std::string ns;
  std::string name;
  std::string node;
  std::string scheduler;
  int shape = 0;
  int labels = 0;      // into Shapes::labels()
  bool ended = false;  // Succeeded or Failed
  bool succeeded = false;
  bool running = false;
  bool unknown = false;
  bool leaving = false;
  bool evicted = false;  // leaving because a scheduler made it go
  bool gated = false;
  GroupNaming naming = GroupNaming::kNone;
  std::string group;  // name of its PodGroup
  uint64_t family = 0;
  std::string queue;  // named by the pod itself
  std::string role;
  int64_t priority = 0;  // spec.priority
  std::string priority_class;
  bool never_preempts = false;
  std::optional<bool> preemptable;  // volcano.sh/preemptable
  std::optional<Time> created_at;
  std::optional<Time> started_at;
  std::optional<Duration> deadline;  // activeDeadlineSeconds
  bool operator==(const PodSeen&) const = default;
};
PodSeen see_pod(const json::object& pod, Shapes& shapes);

// What is read of one node: amounts by resource name, because tables differ between passes.
struct NodeSeen {
  Node node;  // without its amounts
  std::map<std::string, int64_t> offered;
  bool operator==(const NodeSeen&) const = default;
};
NodeSeen see_node(const json::object& node);

// What is read of one PodGroup.
struct GroupSeen {
  std::string id;  // of its gang
  uint64_t family = 0;
  kube::PodGroup group;
  std::string domain_key;  // the node label its annotations or its networkTopology name
  bool domain_required = false;
  std::string placed_by{};  // the scheduler that it says it is for; "": the one its kind is known by
  bool operator==(const GroupSeen&) const = default;
};
GroupSeen see_group(const json::object& group);

struct PriorityClass {
  std::string name;
  int64_t value = 0;
  bool by_default = false;
  bool never_preempts = false;
};
PriorityClass decode_priority_class(const json::object& object);

// By reference: they outlive the call.
struct Documents {
  std::vector<const PodSeen*> pods;
  std::vector<const NodeSeen*> nodes;
  std::vector<const GroupSeen*> groups;
  std::vector<const kube::Queue*> queues;
  std::vector<const json::object*> priority_classes;
  std::vector<const json::object*> namespaces;  // for queues that select them by label
  // Of claims and volumes; null: nobody knows of any, and claims need neither be there nor be bound.
  const VolumesFound* volumes = nullptr;
  // Bindings made that the pods seen do not show yet: uid -> node.
  std::map<std::string, std::string> assumed;
};

// Where documents come from.
class DocumentSource {
 public:
  virtual ~DocumentSource() = default;
  // What they refer to stays until something changes; groups for as long as they are not among the changes.
  virtual Documents all() = 0;
  // The pods, what is assumed of them, and the groups of some families; and volumes.
  virtual Documents of(const std::set<uint64_t>& families) = 0;
};

struct FrontOptions {
  std::set<std::string> schedulers;  // the scheduler names that are ours; empty: all pods are
  // The API groups whose PodGroups are ours while no pod says whose they are; empty: all.
  std::set<std::string> groups;
  std::string default_queue = "default";
  bool overcommit_cpu = false;  // cpu requests are shares, not claims
};

// The pods of a gang as their own phases tell it.
struct Tally {
  int pods = 0;
  int pending = 0;
  int running = 0;
  int succeeded = 0;
  int failed = 0;
  int unknown = 0;
  int on_nodes = 0;  // have a node and have not ended, those that leave included
  bool operator==(const Tally&) const = default;
};

struct Snapshot {
  Cluster cluster;
  std::vector<Gang> gangs;  // in no order that tells anything
  // For each gang the PodGroup it came from; null for a pod alone.
  std::vector<const GroupSeen*> group_of;
  std::vector<Tally> tallies;  // by gang
};

Snapshot assemble(const Documents& documents, const Shapes& shapes, const FrontOptions& options);

// The id of a PodGroup's gang: "scheduling.volcano.sh/default/train".
std::string gang_id(std::string_view group, std::string_view ns, std::string_view name);

}  // namespace trainyard::sched
