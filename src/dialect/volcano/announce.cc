#include "dialect/volcano/announce.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialect/volcano/go_duration.h"
#include "dialect/volcano/policies.h"

namespace trainyard::dialect::vc {
namespace {

using model::NoteKind;

EventText normal(std::string reason, std::string message) {
  return {false, std::move(reason), std::move(message)};
}
EventText warning(std::string reason, std::string message) {
  return {true, std::move(reason), std::move(message)};
}

EventText action_taken(const model::Note& note) {
  std::string_view name = name_of(note.action);
  if (note.delay) {
    return normal("ExecuteAction",
                  fmt::format("Execute action {} after {}", name, format_go_duration(*note.delay)));
  }
  return normal("ExecuteAction", fmt::format("Start to execute action {} ", name));  // the space is Volcano's
}

EventText command_taken(const model::Note& note) {
  return normal(
      "CommandIssued",
      fmt::format("Start to execute command {}, and clean it up to make sure executed not more than once.",
                  name_of(note.action)));
}

EventText companion_failed(const model::JobSpec& job, const model::Note& note) {
  bool claim =
      std::any_of(job.companions.begin(), job.companions.end(), [&](const model::Companion& companion) {
        return companion.kind == model::CompanionKind::kPersistentVolumeClaim &&
               companion.name == note.object;
      });
  if (!claim)
    return warning("PluginError", fmt::format("Execute plugin when job add failed, err: {}", note.text));
  std::string fault = note.text.empty() ? fmt::format(
                                              "pvc {} is not found, the job will be in the Pending state "
                                              "until the PVC is created",
                                              note.object)
                                        : note.text;
  return warning("PVCError", fmt::format("Failed to create PVC, err: {}", fault));
}

}  // namespace

std::optional<EventText> announce(const model::JobSpec& job, const model::Note& note) {
  switch (note.kind) {
    case NoteKind::kActionTaken:
      return action_taken(note);
    case NoteKind::kCommandTaken:
      return command_taken(note);
    case NoteKind::kAdvice:
      return warning(note.reason, note.text);
    case NoteKind::kPodCreateFailed:
      return warning("FailedCreate", fmt::format("Error creating pods: [{}]", note.text));
    case NoteKind::kPodDeleteFailed:
      return warning("FailedDelete", fmt::format("Error deleting pods: [{}]", note.text));
    case NoteKind::kGangFailed:
      return warning("PodGroupError", fmt::format("Failed to create PodGroup, err: {}", note.text));
    case NoteKind::kGangWaiting:
      return warning("PodGroupPending", fmt::format("PodGroup {}:{} unschedulable, reason: {}",
                                                    job.name_space, job.name, note.text));
    case NoteKind::kCompanionFailed:
      return companion_failed(job, note);
    case NoteKind::kJobExpireFailed:
      return warning("FailedDelete", fmt::format("Error deleting job: {}", note.text));
    case NoteKind::kInvalidSpec:
      return warning("InvalidSpec", note.text);
    case NoteKind::kJobCreated:
    case NoteKind::kJobInitialized:
    case NoteKind::kJobRunning:
    case NoteKind::kJobRestarting:
    case NoteKind::kJobSucceeded:
    case NoteKind::kJobFailed:
    case NoteKind::kJobTerminated:
    case NoteKind::kJobPaused:
    case NoteKind::kJobResumed:
    case NoteKind::kReplicaEnded:
    case NoteKind::kReplicaDisrupted:
    case NoteKind::kReplicaFailed:
    case NoteKind::kPodCreated:
    case NoteKind::kPodDeleted:
    case NoteKind::kServiceCreated:
    case NoteKind::kServiceCreateFailed:
    case NoteKind::kServiceDeleted:
    case NoteKind::kServiceDeleteFailed:
    case NoteKind::kGangCreated:
    case NoteKind::kGangDeleted:
    case NoteKind::kTensorBoardCreated:
    case NoteKind::kJobExpired:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace trainyard::dialect::vc
