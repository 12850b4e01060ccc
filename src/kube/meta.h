// What every Kubernetes object has: who it is, whose it is, whether it is going.
// Views into the JSON document, so unknown fields are never touched.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/json.h"

namespace trainyard::kube {

// A kind of object as the API names it. `group` is "" for the core group.
struct Resource {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  bool namespaced = true;
  bool has_status = true;  // whether /status is a subresource of its own

  std::string api_version() const;
  bool operator==(const Resource&) const = default;
};

// The resources we know by heart.
inline constexpr Resource kNamespaces{"", "v1", "Namespace", "namespaces", false};
inline constexpr Resource kNodes{"", "v1", "Node", "nodes", false};
inline constexpr Resource kPods{"", "v1", "Pod", "pods"};
inline constexpr Resource kServices{"", "v1", "Service", "services"};
inline constexpr Resource kConfigMaps{"", "v1", "ConfigMap", "configmaps", true, false};
inline constexpr Resource kSecrets{"", "v1", "Secret", "secrets", true, false};
inline constexpr Resource kPersistentVolumeClaims{"", "v1", "PersistentVolumeClaim",
                                                  "persistentvolumeclaims"};
inline constexpr Resource kEvents{"", "v1", "Event", "events", true, false};
inline constexpr Resource kNetworkPolicies{"networking.k8s.io", "v1", "NetworkPolicy",
                                           "networkpolicies",   true, false};
inline constexpr Resource kLeases{"coordination.k8s.io", "v1", "Lease", "leases", true, false};
inline constexpr Resource kTfJobs{"kubeflow.org", "v1", "TFJob", "tfjobs"};
inline constexpr Resource kT9kJobs{"batch.tensorstack.dev", "v1beta1", "TensorFlowTrainingJob",
                                   "tensorflowtrainingjobs"};
inline constexpr Resource kVolcanoJobs{"batch.volcano.sh", "v1alpha1", "Job", "jobs"};
inline constexpr Resource kVolcanoCommands{"bus.volcano.sh", "v1alpha1", "Command", "commands", true, false};
inline constexpr Resource kVolcanoPodGroups{
    "scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups", true, false};
inline constexpr Resource kKubeBatchPodGroups{"scheduling.incubator.k8s.io", "v1alpha1", "PodGroup",
                                              "podgroups"};
inline constexpr Resource kCoschedulingPodGroups{"scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups"};
inline constexpr Resource kT9kPodGroups{"scheduler.tensorstack.dev", "v1beta1", "PodGroup", "podgroups"};
inline constexpr Resource kVolcanoQueues{"scheduling.volcano.sh", "v1beta1", "Queue", "queues", false};
inline constexpr Resource kT9kQueues{"scheduler.tensorstack.dev", "v1beta1", "Queue", "queues"};
inline constexpr Resource kTensorBoards{"tensorstack.dev", "v1beta1", "TensorBoard", "tensorboards"};

// Reading metadata. All answer "" or nullopt when the field is not there.
std::string_view name_of(const json::object& object);
std::string_view namespace_of(const json::object& object);
std::string_view uid_of(const json::object& object);
// The version as a number; 0 when absent or not a number.
int64_t version_of(const json::object& object);
int64_t generation_of(const json::object& object);
std::string_view label_of(const json::object& object, std::string_view key);
std::string_view annotation_of(const json::object& object, std::string_view key);
bool is_deleting(const json::object& object);
std::optional<Time> creation_time_of(const json::object& object);
bool has_finalizer(const json::object& object, std::string_view finalizer);
// The uid of the owner that is its controller, "" when it has none.
std::string_view controller_uid_of(const json::object& object);

// An ownerReferences entry that makes `owner` the controller, as every operator writes it.
json::object owner_reference(std::string_view api_version, std::string_view kind, std::string_view name,
                             std::string_view uid);

}  // namespace trainyard::kube
