#include "dialect/t9k/announce.h"

#include <fmt/format.h>

#include "dialect/t9k/words.h"

namespace trainyard::t9k {
namespace {

using dialect::EventText;
using model::Note;
using model::NoteKind;

EventText normal(std::string reason, std::string message) {
  return {false, std::move(reason), std::move(message)};
}
EventText warning(std::string reason, std::string message) {
  return {true, std::move(reason), std::move(message)};
}

// The cause as the note gives it; a note about a replica names it in its own fields.
model::Cause cause_of(const model::JobSpec& spec, const Note& note, model::CauseKind kind) {
  model::Cause cause = note.cause;
  if (!cause.role.empty() || !note.replica) return cause;
  if (note.replica->role < 0 || note.replica->role >= static_cast<int>(spec.roles.size())) return cause;
  cause.kind = kind;
  cause.role = spec.roles[static_cast<size_t>(note.replica->role)].name;
  cause.index = note.replica->index;
  cause.exit_code = note.exit_code;
  if (cause.detail.empty()) cause.detail = note.text;
  return cause;
}

EventText running(const Note& note) {
  if (!note.at) return normal("Running", "The job began running.");
  return normal("Running", fmt::format("The job began running at {}", spoken_time(*note.at)));
}

EventText replica_created(const Note& note) {
  std::string_view when = note.attempt > 0 ? "again" : "for the first time";
  return normal(note.attempt > 0 ? "RecreateReplica" : "NewReplica",
                fmt::format("Create the replica[{}] {}.", note.object, when));
}

EventText failed_write(std::string_view reason, std::string_view verb, std::string_view what,
                       const Note& note) {
  return warning(std::string(reason),
                 fmt::format("Cannot {} the {}[{}]: {}", verb, what, note.object, note.text));
}

}  // namespace

std::optional<EventText> announce(const model::JobSpec& spec, const Note& note) {
  using model::CauseKind;
  switch (note.kind) {
    case NoteKind::kJobCreated:
      return normal("Created", fmt::format("A TensorFlowTrainingJob has been created: {}", spec.name));
    case NoteKind::kJobInitialized:
      return normal("Start", std::string(kInitializedText));
    case NoteKind::kJobRunning:
      return running(note);
    case NoteKind::kJobRestarting:
      return warning("Restarting", replica_failure(spec, cause_of(spec, note, CauseKind::kReplicaFailed)) +
                                       "; it is started again.");
    case NoteKind::kJobSucceeded:
      return normal("Succeeded", std::string(kSucceededText));
    case NoteKind::kJobFailed:
    case NoteKind::kJobTerminated:
      return warning("Failed", job_failure(spec, note.cause));
    case NoteKind::kJobPaused:
      return normal("Paused", "The job is paused.");
    case NoteKind::kJobResumed:
      return normal("Resumed", "The job is resumed.");
    case NoteKind::kReplicaFailed:
      return warning("ReplicaFailure",
                     replica_failure(spec, cause_of(spec, note, CauseKind::kReplicaFailed)) +
                         "; it is not started again.");
    case NoteKind::kReplicaDisrupted:
      return warning("ReplicaDisrupted",
                     replica_failure(spec, cause_of(spec, note, CauseKind::kReplicaDisrupted)));
    case NoteKind::kAdvice:
      return warning(note.reason, note.text);
    case NoteKind::kPodCreated:
      return replica_created(note);
    case NoteKind::kPodDeleted:
      return normal("DeleteReplica", fmt::format("Delete the replica[{}].", note.object));
    case NoteKind::kPodCreateFailed:
      return failed_write("FailedCreateReplica", "create", "replica", note);
    case NoteKind::kPodDeleteFailed:
      return failed_write("FailedDeleteReplica", "delete", "replica", note);
    case NoteKind::kServiceCreateFailed:
      return failed_write("FailedCreateService", "create", "service", note);
    case NoteKind::kServiceDeleteFailed:
      return failed_write("FailedDeleteService", "delete", "service", note);
    case NoteKind::kGangFailed:
      return failed_write("FailedCreatePodGroup", "create", "PodGroup", note);
    case NoteKind::kGangWaiting:
      return normal("Queued",
                    note.text.empty() ? "The job waits for its PodGroup to be scheduled." : note.text);
    case NoteKind::kCompanionFailed:
      return failed_write("FailedCreate", "create", "object", note);
    case NoteKind::kTensorBoardCreated:
      return normal("NewTensorBoard", fmt::format("Create the TensorBoard[{}].", note.object));
    case NoteKind::kInvalidSpec:
      return warning("InvalidSpec", note.text);
    case NoteKind::kReplicaEnded:
    case NoteKind::kActionTaken:
    case NoteKind::kCommandTaken:
    case NoteKind::kServiceCreated:
    case NoteKind::kServiceDeleted:
    case NoteKind::kGangCreated:
    case NoteKind::kGangDeleted:
    case NoteKind::kJobExpired:
    case NoteKind::kJobExpireFailed:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace trainyard::t9k
