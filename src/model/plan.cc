#include "model/plan.h"

#include <fmt/format.h>

#include "base/match.h"

namespace trainyard::model {

std::string to_string(const JobSpec& spec, const Step& step) {
  auto put = [](std::string_view what, std::string_view name, const std::string& uid) {
    return fmt::format("{} {} {}", uid.empty() ? "create" : "update", what, name);
  };
  return std::visit(
      Match{
          [](const AddFinalizer&) -> std::string { return "add finalizer"; },
          [](const WriteState&) -> std::string { return "write state"; },
          [](const DeletePod& s) { return fmt::format("delete pod {}", s.name); },
          [](const DeleteService& s) { return fmt::format("delete service {}", s.name); },
          [](const DeleteCompanion& s) { return fmt::format("delete {} {}", to_string(s.kind), s.name); },
          [](const DeleteGang& s) { return fmt::format("delete gang {}", s.name); },
          [](const DeleteCommand& s) { return fmt::format("delete command {}", s.name); },
          [&](const UpsertGang& s) { return put("gang", spec.gang ? spec.gang->name : "", s.uid); },
          [&](const UpsertCompanion& s) { return put(to_string(s.kind), s.name, s.uid); },
          [&](const UpsertTensorBoard& s) {
            return put("tensorboard", spec.tensorboard.value_or(""), s.uid);
          },
          [&](const CreateService& s) { return fmt::format("create service {}", spec.pod_name(s.id)); },
          [&](const CreatePod& s) {
            return s.attempt == 0 ? fmt::format("create pod {}", spec.pod_name(s.id))
                                  : fmt::format("create pod {} (attempt {})", spec.pod_name(s.id), s.attempt);
          },
          [](const DropFinalizer&) -> std::string { return "drop finalizer"; },
          [](const DeleteJob&) -> std::string { return "delete job"; },
      },
      step);
}

std::string_view to_string(CompanionKind kind) {
  switch (kind) {
    case CompanionKind::kService:
      return "service";
    case CompanionKind::kConfigMap:
      return "configmap";
    case CompanionKind::kSecret:
      return "secret";
    case CompanionKind::kNetworkPolicy:
      return "networkpolicy";
    case CompanionKind::kPersistentVolumeClaim:
      return "persistentvolumeclaim";
  }
  return "";
}

std::string_view to_string(WaitKind kind) {
  switch (kind) {
    case WaitKind::kNotManaged:
      return "NotManaged";
    case WaitKind::kDeleting:
      return "Deleting";
    case WaitKind::kGangPending:
      return "GangPending";
    case WaitKind::kDependsOn:
      return "DependsOn";
    case WaitKind::kOldPods:
      return "OldPods";
    case WaitKind::kTerminating:
      return "Terminating";
    case WaitKind::kPaused:
      return "Paused";
    case WaitKind::kCompanion:
      return "Companion";
    case WaitKind::kNotStarted:
      return "NotStarted";
    case WaitKind::kDelayedAction:
      return "DelayedAction";
    case WaitKind::kTimeToLive:
      return "TimeToLive";
    case WaitKind::kMoreSteps:
      return "MoreSteps";
  }
  return "";
}

std::string_view to_string(NoteKind kind) {
  switch (kind) {
    case NoteKind::kJobCreated:
      return "JobCreated";
    case NoteKind::kJobInitialized:
      return "JobInitialized";
    case NoteKind::kJobRunning:
      return "JobRunning";
    case NoteKind::kJobRestarting:
      return "JobRestarting";
    case NoteKind::kJobSucceeded:
      return "JobSucceeded";
    case NoteKind::kJobFailed:
      return "JobFailed";
    case NoteKind::kJobTerminated:
      return "JobTerminated";
    case NoteKind::kJobPaused:
      return "JobPaused";
    case NoteKind::kJobResumed:
      return "JobResumed";
    case NoteKind::kReplicaEnded:
      return "ReplicaEnded";
    case NoteKind::kReplicaDisrupted:
      return "ReplicaDisrupted";
    case NoteKind::kReplicaFailed:
      return "ReplicaFailed";
    case NoteKind::kActionTaken:
      return "ActionTaken";
    case NoteKind::kCommandTaken:
      return "CommandTaken";
    case NoteKind::kAdvice:
      return "Advice";
    case NoteKind::kPodCreated:
      return "PodCreated";
    case NoteKind::kPodCreateFailed:
      return "PodCreateFailed";
    case NoteKind::kPodDeleted:
      return "PodDeleted";
    case NoteKind::kPodDeleteFailed:
      return "PodDeleteFailed";
    case NoteKind::kServiceCreated:
      return "ServiceCreated";
    case NoteKind::kServiceCreateFailed:
      return "ServiceCreateFailed";
    case NoteKind::kServiceDeleted:
      return "ServiceDeleted";
    case NoteKind::kServiceDeleteFailed:
      return "ServiceDeleteFailed";
    case NoteKind::kGangCreated:
      return "GangCreated";
    case NoteKind::kGangFailed:
      return "GangFailed";
    case NoteKind::kGangDeleted:
      return "GangDeleted";
    case NoteKind::kGangWaiting:
      return "GangWaiting";
    case NoteKind::kCompanionFailed:
      return "CompanionFailed";
    case NoteKind::kTensorBoardCreated:
      return "TensorBoardCreated";
    case NoteKind::kJobExpired:
      return "JobExpired";
    case NoteKind::kJobExpireFailed:
      return "JobExpireFailed";
    case NoteKind::kInvalidSpec:
      return "InvalidSpec";
  }
  return "";
}

}  // namespace trainyard::model
