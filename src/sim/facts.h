// Facts: what the checkers, the kubelet and the users read out of stored objects, with
// eyes of their own. Nothing here knows the dialects' or the engine's code: a mistake
// made there is not made here a second time. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/json.h"
#include "kube/meta.h"
#include "sim/blueprint.h"

namespace trainyard::sim {

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

struct PodFacts {
  std::string name;
  std::string uid;
  std::string job_uid;  // of its controller
  std::string role;     // <anything>-<role>-<index>
  int index = -1;
  int attempt = 0;
  PodPhase phase = PodPhase::kPending;
  bool deleting = false;
  bool marked = false;     // its scheduler says that it will be deleted
  bool disrupted = false;  // something was done to it; a mark alone does nothing
  bool bound = false;
  int exit_code = 0;  // of the first container that ended
  int restarts = 0;   // in place
  std::string gang;   // the PodGroup it is a member of

  bool ended() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
};
PodFacts read_pod(const json::object& pod);
// PodFacts::gang alone.
std::string_view gang_of(const json::object& pod);

// The cluster part of TF_CONFIG, as written; "" when the pod has none.
struct TfConfig {
  std::string cluster;
  std::map<std::string, std::vector<std::string>> addresses;  // by role; of roles that are lists
  std::string task_type;
  int task_index = -1;
};
std::optional<TfConfig> read_tf_config(const json::object& pod);

// What the manifest asks for.
struct Wish {
  std::map<std::string, int> replicas;  // by role
  std::string restart;
  bool suspended = false;
  std::optional<int> backoff;
  std::optional<int> ttl;
  std::optional<int> deadline;
  bool hold = false;
  bool valid = true;
  std::string scope;
  std::string clean;
  bool has_policies = false;
  bool board = false;    // a TensorBoard of its own
  bool keys = false;     // a Secret with keys
  bool dynamic = false;  // each worker is told of itself and the parameter servers alone
};
Wish read_wish(Kind kind, const json::object& job);

struct ConditionFacts {
  std::string type;
  bool is_true = false;
  std::optional<Time> changed_at;
};

// What the status says, in the words of its dialect, and what is remembered in it.
struct StatusFacts {
  bool succeeded = false;
  bool failed = false;
  bool terminated = false;  // Volcano's third way to end
  bool stopped = false;     // suspended, paused, aborted
  bool running = false;
  std::optional<Time> started_at;
  std::optional<Time> finished_at;
  std::optional<int> shown_restarts;  // backoffCount, retryCount
  std::vector<ConditionFacts> conditions;
  json::object memory;  // encoded state

  bool terminal() const { return succeeded || failed || terminated; }
};
StatusFacts read_status(Kind kind, const json::object& job);

// What the memory of a job says of a replica: the attempt that its pod must have, and how it
// ended in that attempt.
int64_t recorded_attempt(const json::object& memory, std::string_view role, int index);
std::optional<bool> recorded_success(const json::object& memory, std::string_view role, int index);

std::optional<Kind> kind_of(const json::object& object);
std::string_view to_string(PodPhase phase);

}  // namespace trainyard::sim
