#include "dialect/tfjob/words.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard::dialect::tf {
namespace {

std::string title_of_role(const model::JobSpec& spec, const model::Cause& cause) {
  int role = spec.role_named(cause.role);
  return role >= 0 ? spec.roles[role].title : cause.role;
}

std::string replica_failed_text(const model::JobSpec& spec, const model::Cause& cause) {
  return fmt::format("TFJob {}/{} has failed because {} {} replica(s) failed.", spec.name_space, spec.name,
                     std::max(1, cause.failed_count), title_of_role(spec, cause));
}

std::string ended_text(const model::JobSpec& spec, const model::Cause& cause, std::string_view why) {
  return fmt::format("TFJob {}/{} has failed because {}{}{}.", spec.name_space, spec.name, why,
                     cause.detail.empty() ? "" : ": ", cause.detail);
}

}  // namespace

std::string created_text(const model::JobSpec& spec) {
  return fmt::format("TFJob {} is created.", spec.name);
}

std::string running_text(const model::JobSpec& spec) {
  return fmt::format("TFJob {}/{} is running.", spec.name_space, spec.name);
}

std::string restarting_text(const model::JobSpec& spec, const model::Cause& cause) {
  return fmt::format("job {} is restarting because {} replica(s) failed.", spec.name,
                     title_of_role(spec, cause));
}

std::string succeeded_text(const model::JobSpec& spec) {
  return fmt::format("TFJob {}/{} successfully completed.", spec.name_space, spec.name);
}

std::string failed_text(const model::JobSpec& spec, const model::Cause& cause) {
  switch (cause.kind) {
    case model::CauseKind::kReplicaPermanent:
      return fmt::format("job \"{}\" is failing because \"{}\" replica(s) failed.", spec.name,
                         title_of_role(spec, cause));
    case model::CauseKind::kBudgetSpent:
      return fmt::format("Job {} has failed because it has reached the specified backoff limit", spec.name);
    case model::CauseKind::kDeadline:
      return fmt::format("Job {} has failed because it was active longer than specified deadline", spec.name);
    case model::CauseKind::kNothingLeft:
      if (!cause.role.empty()) return replica_failed_text(spec, cause);
      return ended_text(spec, cause, "every replica has ended and none brought success");
    case model::CauseKind::kReplicaFailed:
    case model::CauseKind::kReplicaDisrupted:
      return replica_failed_text(spec, cause);
    case model::CauseKind::kRule:
      return ended_text(spec, cause, "a rule ended it");
    case model::CauseKind::kCommand:
      return ended_text(spec, cause, "it was told to stop");
    case model::CauseKind::kInvalid:
      return ended_text(spec, cause, "its spec is invalid");
    case model::CauseKind::kNone:
      return ended_text(spec, cause, "it was ended");
  }
  return "";
}

std::string suspended_text(const model::JobSpec& spec) {
  return fmt::format("TFJob {} is suspended.", spec.name);
}

std::string resumed_text(const model::JobSpec& spec) {
  return fmt::format("TFJob {} is resumed.", spec.name);
}

}  // namespace trainyard::dialect::tf
