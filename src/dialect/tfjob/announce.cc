#include "dialect/tfjob/announce.h"

#include <fmt/format.h>

#include "dialect/tfjob/words.h"

namespace trainyard::dialect::tf {
namespace {

using model::NoteKind;

constexpr const char* kSucceeded = "TFJobSucceeded";
constexpr const char* kPodsDeleted = "SuccessfulDeletePod";

EventText normal(std::string_view reason, std::string message) {
  return {false, std::string(reason), std::move(message)};
}
EventText warning(std::string_view reason, std::string message) {
  return {true, std::string(reason), std::move(message)};
}

// What goes because the job has succeeded is named where that is told; services with their pods otherwise.
EventText removed(std::string_view reason, std::string message, std::vector<std::string> joins) {
  return {false, std::string(reason), std::move(message), std::move(joins)};
}

std::string pod_of(const model::JobSpec& spec, const model::Note& note) {
  if (!note.object.empty() || !note.replica) return note.object;
  return spec.pod_name(*note.replica);
}

EventText job_failed(const model::JobSpec& spec, const model::Note& note) {
  bool permanent = note.cause.kind == model::CauseKind::kReplicaPermanent;
  return {permanent, "TFJobFailed", failed_text(spec, note.cause)};
}

EventText failed_write(std::string_view reason, std::string_view doing, const model::Note& note) {
  return warning(reason, fmt::format("Error {}: {}", doing, note.text));
}

EventText disrupted(const model::JobSpec& spec, const model::Note& note) {
  std::string why = note.cause.detail.empty() ? note.text : note.cause.detail;
  return warning("ReplicaDisrupted", fmt::format("Pod: {}.{} was disrupted{}{}", spec.name_space,
                                                 pod_of(spec, note), why.empty() ? "" : ": ", why));
}

}  // namespace

std::optional<EventText> announce_tfjob(const model::JobSpec& spec, const model::Note& note) {
  switch (note.kind) {
    case NoteKind::kJobRestarting:
      return warning("TFJobRestarting", restarting_text(spec, note.cause));
    case NoteKind::kJobSucceeded:
      return normal(kSucceeded, succeeded_text(spec));
    case NoteKind::kJobFailed:
    case NoteKind::kJobTerminated:
      return job_failed(spec, note);
    case NoteKind::kJobPaused:
      return normal("TFJobSuspended", suspended_text(spec));
    case NoteKind::kJobResumed:
      return normal("TFJobResumed", resumed_text(spec));
    case NoteKind::kReplicaEnded:
      return normal("ExitedWithCode", fmt::format("Pod: {}.{} exited with code {}", spec.name_space,
                                                  pod_of(spec, note), note.exit_code));
    case NoteKind::kReplicaDisrupted:
      return disrupted(spec, note);
    case NoteKind::kAdvice:
      return warning(note.reason, note.text);
    case NoteKind::kPodCreated:
      return normal("SuccessfulCreatePod", fmt::format("Created pod: {}", note.object));
    case NoteKind::kPodCreateFailed:
      return failed_write("FailedCreatePod", "creating", note);
    case NoteKind::kPodDeleted:
      return removed(kPodsDeleted, fmt::format("Deleted pod: {}", note.object), {kSucceeded});
    case NoteKind::kPodDeleteFailed:
      return failed_write("FailedDeletePod", "deleting", note);
    case NoteKind::kServiceCreated:
      return normal("SuccessfulCreateService", fmt::format("Created service: {}", note.object));
    case NoteKind::kServiceCreateFailed:
      return failed_write("FailedCreateService", "creating", note);
    case NoteKind::kServiceDeleted:
      return removed("SuccessfulDeleteService", fmt::format("Deleted service: {}", note.object),
                     {kSucceeded, kPodsDeleted});
    case NoteKind::kServiceDeleteFailed:
      return failed_write("FailedDeleteService", "deleting", note);
    case NoteKind::kGangFailed:
      return failed_write("FailedCreatePodGroup", "creating", note);
    case NoteKind::kGangDeleted:
      return normal("SuccessfulDeletePodGroup", fmt::format("Deleted PodGroup: {}", note.object));
    case NoteKind::kJobExpired:
      return normal("SuccessfulDeleteJob", fmt::format("Deleted job: {}", spec.name));
    case NoteKind::kJobExpireFailed:
      return failed_write("FailedDeleteJob", "deleting", note);
    case NoteKind::kInvalidSpec:
      return warning("TFJobFailedValidation", fmt::format("TFJob failed validation because {}", note.text));
    case NoteKind::kJobCreated:
    case NoteKind::kJobInitialized:
    case NoteKind::kJobRunning:
    case NoteKind::kReplicaFailed:
    case NoteKind::kActionTaken:
    case NoteKind::kCommandTaken:
    case NoteKind::kGangCreated:
    case NoteKind::kGangWaiting:
    case NoteKind::kCompanionFailed:
    case NoteKind::kTensorBoardCreated:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace trainyard::dialect::tf
