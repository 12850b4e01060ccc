// Spec: a Volcano Job as it is written, typed. A value that looks into the document it
// was decoded from (templates, claims): the document must outlive it.
//
// A Spec that passed validate() has unique task names, minima within their bounds,
// dependencies without a cycle and plugins that we have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "dialect/volcano/plugins.h"
#include "kube/json.h"

namespace trainyard::dialect::vc {

// One entry of `policies`: an event (or several) or an exit code, and what is done.
struct Policy {
  std::vector<std::string> events;  // event and events together, each once
  std::optional<int> exit_code;
  std::string action;
  std::optional<Duration> timeout;
};

struct PartitionPolicy {
  int total = 0;
  int size = 0;
  int min = 0;
};

struct Task {
  std::string path;  // "spec.tasks[1]"
  std::string name;
  int replicas = 0;
  bool replicas_clear = true;  // false: a problem was told; what follows from the number is not told again
  int min_available = 0;
  const json::object* pod_template = nullptr;
  std::vector<Policy> policies;
  int max_retry = 0;
  std::vector<std::string> depends_on;
  bool depends_on_any = false;
  std::string topology_policy;
  std::optional<PartitionPolicy> partitions;
};

struct Volume {
  std::string path;
  std::string mount_path;
  std::string claim_name;
  const json::object* claim = nullptr;  // to be made when it is not there
};

struct Spec {
  std::string name;
  std::string name_space;
  std::string uid;
  std::string scheduler_name;
  std::string queue;
  std::string priority_class;
  int min_available = 0;
  int max_retry = 0;
  std::optional<int> min_success;
  std::optional<int> ttl_seconds;
  std::vector<Task> tasks;
  std::vector<Policy> policies;
  std::vector<Volume> volumes;
  Plugins plugins;

  int total_replicas() const;
  // Sum of the tasks' minima.
  int total_min_available() const;
};

// The namespace as pods are labelled with it: where kubectl would put a job that names none.
inline std::string namespace_label(const Spec& spec) {
  return spec.name_space.empty() ? "default" : spec.name_space;
}

}  // namespace trainyard::dialect::vc
