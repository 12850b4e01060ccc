#include "dialect/tfjob/restart_rules.h"

namespace trainyard::dialect::tf {
namespace {

using model::ActionKind;
using model::Trigger;

// 139 (a segmentation fault) is permanent by the exit code table; 42 is TensorFlow's own
// "I have saved a checkpoint and want to be started again".
const std::vector<model::ExitRange> kRetried = {{42, 42}, {129, 138}, {140, 255}};

}  // namespace

void set_restart_rules(const TfReplicas& replicas, model::Scope scope, bool tolerates_failures,
                       model::Role& role) {
  const model::Action again{.kind = ActionKind::kRestart, .scope = scope};
  const bool alone = scope == model::Scope::kPod;
  // A pod that somebody deletes is made again anyway; a rule is needed only where its peers
  // must start again with it.
  std::vector<Trigger> lost{Trigger::kDisrupted};
  if (!alone) lost.push_back(Trigger::kDeleted);
  role.otherwise.kind = tolerates_failures ? ActionKind::kNone : ActionKind::kFail;
  switch (replicas.restart_policy) {
    case RestartPolicy::kNever:
      break;
    case RestartPolicy::kOnFailure:
    case RestartPolicy::kAlways:
      lost.insert(lost.begin(), Trigger::kFailed);
      role.rules.push_back({.on = lost, .action = again});
      role.restarts_in_place = alone;
      role.runs_forever = !alone && replicas.restart_policy == RestartPolicy::kAlways;
      break;
    case RestartPolicy::kExitCode:
      role.rules.push_back({.on = {Trigger::kFailed}, .exits = kRetried, .action = again});
      role.rules.push_back({.on = lost, .action = again});
      break;
  }
}

std::string_view pod_restart_policy(RestartPolicy policy, bool in_place) {
  switch (policy) {
    case RestartPolicy::kNever:
    case RestartPolicy::kExitCode:
      return "Never";
    case RestartPolicy::kOnFailure:
      return in_place ? "OnFailure" : "Never";
    case RestartPolicy::kAlways:
      return in_place ? "Always" : "Never";
  }
  return "Never";
}

}  // namespace trainyard::dialect::tf
