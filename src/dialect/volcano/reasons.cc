#include "dialect/volcano/reasons.h"

#include <fmt/format.h>

namespace trainyard::dialect::vc {
namespace {

using model::Cause;
using model::CauseKind;

std::string replica_of(const Cause& cause) {
  if (cause.role.empty()) return "a pod";
  return fmt::format("pod {} of task {}", cause.index, cause.role);
}

std::string message_of(const Cause& cause) {
  std::string ended = fmt::format("{} failed with exit code {}", replica_of(cause), cause.exit_code);
  switch (cause.kind) {
    case CauseKind::kNone:
      return "";
    case CauseKind::kReplicaFailed:
    case CauseKind::kReplicaPermanent:
      return ended;
    case CauseKind::kReplicaDisrupted:
      return fmt::format("{} was evicted or deleted", replica_of(cause));
    case CauseKind::kBudgetSpent:
      return fmt::format("{} and maxRetry is used up", ended);
    case CauseKind::kDeadline:
      return "the job ran longer than it may";
    case CauseKind::kNothingLeft:
      return "all pods have ended, and too few of them succeeded";
    case CauseKind::kRule:
      return cause.role.empty() ? "a policy of the job said so"
                                : fmt::format("a policy answered {}", replica_of(cause));
    case CauseKind::kCommand:
      return "a Command said so";
    case CauseKind::kInvalid:
      return "the job is not valid";
  }
  return "";
}

}  // namespace

Reason reason_of(const model::JobState& state) {
  if (state.cause.kind == CauseKind::kNone) return {};
  Reason why{std::string(to_string(state.cause.kind)), message_of(state.cause)};
  if (!state.cause.detail.empty()) why.message += fmt::format(": {}", state.cause.detail);
  return why;
}

}  // namespace trainyard::dialect::vc
