#include "dialect/t9k/words.h"

#include <fmt/format.h>

namespace trainyard::t9k {
namespace {

// The pod to blame, "" when the cause names none that the spec has.
std::string pod_of(const model::JobSpec& spec, const model::Cause& cause) {
  int role = cause.role.empty() ? -1 : spec.role_named(cause.role);
  return role < 0 || cause.index < 0 ? "" : spec.pod_name({role, cause.index});
}

std::string with_detail(std::string text, const std::string& detail) {
  return detail.empty() ? text : fmt::format("{}: {}", text, detail);
}

// "x failed with exit code 1"; the pod's own words when it has no code to show.
std::string pod_failure(const model::JobSpec& spec, const model::Cause& cause) {
  std::string pod = pod_of(spec, cause);
  if (pod.empty()) return with_detail("a replica failed", cause.detail);
  if (cause.exit_code <= 0) return with_detail(pod + " failed", cause.detail);
  return fmt::format("{} failed with exit code {}", pod, cause.exit_code);
}

std::string limit_text(const model::JobSpec& spec) {
  int limit = spec.budget.restarts_max.value_or(0);
  return fmt::format("backoffLimit {} allows no more restarts", limit);
}

std::string deadline_text(const model::JobSpec& spec) {
  if (!spec.active_deadline) return "it has run longer than activeDeadlineSeconds";
  int64_t limit = spec.active_deadline->count() / 1000;
  return fmt::format("it has run longer than activeDeadlineSeconds {}", limit);
}

std::string why(const model::JobSpec& spec, const model::Cause& cause) {
  using model::CauseKind;
  std::string pod = pod_of(spec, cause);
  switch (cause.kind) {
    case CauseKind::kReplicaFailed:
    case CauseKind::kReplicaPermanent:
      return pod_failure(spec, cause);
    case CauseKind::kReplicaDisrupted:
      return with_detail(fmt::format("{} was disrupted", pod.empty() ? "a replica" : pod), cause.detail);
    case CauseKind::kBudgetSpent:
      if (cause.role.empty()) return limit_text(spec);
      return fmt::format("{}, and {}", pod_failure(spec, cause), limit_text(spec));
    case CauseKind::kDeadline:
      return deadline_text(spec);
    case CauseKind::kNothingLeft:
      return with_detail("no replica is left that could finish it", cause.detail);
    case CauseKind::kRule:
    case CauseKind::kCommand:
    case CauseKind::kInvalid:
      return cause.detail.empty() ? "it was stopped" : cause.detail;
    case CauseKind::kNone:
      return with_detail("the reason is not known", cause.detail);
  }
  return "the reason is not known";
}

}  // namespace

std::string replica_failure(const model::JobSpec& spec, const model::Cause& cause) {
  std::string pod = pod_of(spec, cause);
  if (pod.empty()) return with_detail("A pod has failed", cause.detail);
  if (cause.kind == model::CauseKind::kReplicaDisrupted) {
    return with_detail(fmt::format("Pod[{}] was disrupted", pod), cause.detail);
  }
  if (cause.exit_code <= 0) return with_detail(fmt::format("Pod[{}] failed", pod), cause.detail);
  return fmt::format("Pod[{}] exited with error code {}", pod, cause.exit_code);
}

std::string job_failure(const model::JobSpec& spec, const model::Cause& cause) {
  return fmt::format("TensorFlowTrainingJob {} has failed: {}", spec.name, why(spec, cause));
}

std::string spoken_time(Time time) {
  std::string text = format_rfc3339(time.whole_seconds());
  text.resize(text.size() - 1);  // the Z
  text[text.find('T')] = ' ';
  int64_t hundredths = (time.ms - time.whole_seconds().ms) / 10;
  if (hundredths > 0)
    text += hundredths % 10 == 0 ? fmt::format(".{}", hundredths / 10) : fmt::format(".{:02}", hundredths);
  return text + " UTC";
}

}  // namespace trainyard::t9k
