// From a Pod and what is around it to plans a runtime can carry out. Pure. Paths on this
// machine are not decided here: see volumes.h and log_files.h.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "node/env_plan.h"
#include "node/runtime.h"
#include "node/volume_plan.h"

namespace trainyard::node {

// What must be read before a plan can be made; optional ones included.
struct References {
  std::set<std::string> config_maps;
  std::set<std::string> secrets;
  bool operator==(const References&) const = default;
};
References references_of(const json::object& pod);

// A container's plan but for what only the moment of its start decides: attempt, mounts'
// sources, log and termination files, GPUs.
struct ContainerWish {
  ContainerPlan plan;
  std::vector<MountWish> mounts;
  std::string termination_path;  // in the container
  int gpus = 0;
  std::vector<std::string> left_out;  // of the environment, in words
};

PodPlan plan_pod(const json::object& pod, std::string_view cluster_domain);
// The error is what a pod shows as CreateContainerConfigError.
Result<ContainerWish> plan_container(const json::object& pod, const json::object& container,
                                     const Around& around);

// Names become folders here. "" when all of the pod's are fit for that; the one that is not otherwise.
std::string unfit_name(const json::object& pod);
bool is_folder_name(std::string_view name);

// The container of that name, of whatever kind; null when there is none.
const json::object* find_container(const json::object& pod, std::string_view name);
// spec.initContainers or spec.containers, in order.
std::vector<const json::object*> containers_of(const json::object& pod, bool init);
// spec.ephemeralContainers: added by `kubectl debug` to a pod that runs.
std::vector<const json::object*> debug_containers_of(const json::object& pod);

// What {requests, limits} mean for a container.
Limits limits_of(const json::object& resources);

// The group that the pod's volumes belong to.
std::optional<int64_t> fs_group_of(const json::object& pod);

// What the node counts of what a pod's spec asks for.
struct Requests {
  int64_t cpu_millis = 0;
  int64_t memory_bytes = 0;
  int64_t gpus = 0;
  bool operator==(const Requests&) const = default;
};
Requests requests_of(const json::object& pod);
// Whether it fits into what is left: "" or the resource that lacks, as Kubernetes names it.
std::string lacking(const Requests& wanted, const Requests& used, const Requests& capacity);

}  // namespace trainyard::node
