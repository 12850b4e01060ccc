// TfJob: a Kubeflow TFJob as written, decoded and defaulted. A value, and only a stop on
// the way from the manifest to model::JobSpec; nothing outside this folder sees it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/shared/restart_policy.h"
#include "kube/json.h"
#include "model/job_spec.h"

namespace trainyard::dialect::tf {

inline constexpr std::string_view kTfContainer = "tensorflow";
inline constexpr std::string_view kTfPortName = "tfjob-port";
inline constexpr int kTfPort = 2222;

// In the order in which roles are started and told about.
enum class TfRole { kChief, kMaster, kPs, kWorker, kEvaluator };
inline constexpr TfRole kTfRoles[] = {TfRole::kChief, TfRole::kMaster, TfRole::kPs, TfRole::kWorker,
                                      TfRole::kEvaluator};
std::string_view title_of(TfRole role);  // "Worker": in the manifest, in status, in messages
std::string_view name_of(TfRole role);   // "worker": in names, labels, TF_CONFIG

struct TfReplicas {
  TfRole role = TfRole::kWorker;
  int replicas = 1;
  RestartPolicy restart_policy = RestartPolicy::kNever;
  bool overwrites_template_policy = false;  // the template has one of its own, which gives way
  json::object pod_template;                // with the default port
};

struct TfSchedulingPolicy {
  std::optional<int> min_available;
  std::string queue;
  std::string priority_class;
  std::map<std::string, std::string> min_resources;
  std::optional<int> timeout_seconds;
};

struct TfJob {
  std::string name;
  std::string name_space;
  std::vector<TfReplicas> replicas;  // in the order of kTfRoles
  model::Cleanup cleanup = model::Cleanup::kUnfinished;
  std::optional<int64_t> ttl_seconds;
  std::optional<int64_t> active_deadline_seconds;
  std::optional<int> backoff_limit;
  bool suspend = false;
  bool managed = true;
  bool all_workers = false;
  bool dynamic_worker = false;
  TfSchedulingPolicy scheduling;
  std::optional<model::Scope> restart_scope;
  bool holds_deletion = false;

  const TfReplicas* find(TfRole role) const;
  int total_replicas() const;
};

}  // namespace trainyard::dialect::tf
