// TrainingJob: a TensorFlowTrainingJob (batch.tensorstack.dev/v1beta1) as typed values,
// decoded, defaulted and validated. Pure; never throws, whatever the document holds.
//
// Defaults: replicas 1; restartPolicy the template's, else Never; backoffLimit 3;
// cleanUpPolicy None; queue "default"; priority 0. Until the end of 2023 the switches of
// runMode were spelled `enable`: that is taken too, with an advice.
// Beyond the documented rules, what could never work is refused: two entries of one type,
// two chiefs, no replica that could be the main one, overrides for a type that is not there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/shared/problem.h"
#include "dialect/shared/restart_policy.h"
#include "dialect/t9k/overrides.h"
#include "kube/json.h"
#include "model/job_spec.h"

namespace trainyard::t9k {

inline constexpr int kBackoffLimitDefault = 3;
inline constexpr int kPriorityMax = 100;
inline constexpr std::string_view kMainContainer = "tensorflow";
inline constexpr std::string_view kQueueDefault = "default";

using dialect::RestartPolicy;

struct ReplicaSpec {
  std::string type;  // chief, worker, ps or evaluator
  int replicas = 1;
  RestartPolicy restart = RestartPolicy::kNever;
};

struct QueuePlace {
  std::string queue{kQueueDefault};
  int priority = 0;

  bool operator==(const QueuePlace&) const = default;
};

struct TrainingJob {
  std::string name;
  std::string name_space;
  std::string uid;
  std::vector<ReplicaSpec> replica_specs;  // in the manifest's order
  std::optional<int64_t> active_deadline_seconds;
  int backoff_limit = kBackoffLimitDefault;
  model::Cleanup cleanup = model::Cleanup::kNone;
  bool paused = false;
  std::optional<QueuePlace> scheduler;
  bool has_tensorboard = false;
  model::Scope restart_scope = model::Scope::kPod;
  bool mirrored = false;  // the program saves a checkpoint and ends with 42 when it is told to stop
  bool holds_deletion = false;
  std::vector<model::Advice> advice;
  json::object source;  // the document with the defaults written in
};

// What was found, with `problems` grown by everything that is wrong with it; only when
// nothing was added is the job to be used.
TrainingJob decode(const json::object& object, std::vector<dialect::Problem>& problems);

// spec.scheduler of a document that was not validated; nullopt for the cluster's default.
std::optional<QueuePlace> queue_place_of(const json::object& object);

}  // namespace trainyard::t9k
