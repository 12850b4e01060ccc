// Which replicas and pods of a job a verb is about. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verbs.h"
#include "cli/verbs_find.h"
#include "model/job_spec.h"

namespace trainyard::cli {

// A replica, and the pod that is or was it.
struct ReplicaPod {
  std::string label;  // "worker-0"
  std::string pod_name;
  client::Object pod;     // null: there is none now
  std::string container;  // the one that trains
};

// The replicas of the job that are chosen, by role and index. Without a choice all of them,
// or, when `deciding`, the one whose end decides the job. kInvalid when there is none such.
Result<std::vector<ReplicaPod>> choose_replicas(const FoundJob& job, const std::vector<client::Object>& pods,
                                                const ReplicaChoice& choice, bool deciding);

// The container that trains: the dialect's, or the pod's first.
std::string main_container_of(const dialect::Dialect* dialect, const json::object& pod);

// What to say of a pod that has no container of that name; nullopt when it has one.
std::optional<std::string> no_such_container(const json::object& pod, const std::string& container);

// How often the container has been started anew in this pod, -1 when it has not begun.
int64_t starts_of(const json::object& pod, const std::string& container);

}  // namespace trainyard::cli
