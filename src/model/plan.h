// Plan: what one pass intends. Pure value; equal observations give equal plans.
// Steps are ordered and any prefix of them is safe: crash after any one and the next
// pass reaches the same end. Intent (WriteState) stands before the deletes that it
// authorises, creates stand last, and every delete names the uid it means.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "model/job_spec.h"
#include "model/job_state.h"

namespace trainyard::model {

// More than this many creates and deletes wait for the next pass, so that one huge
// job does not keep the others from their turn.
inline constexpr int kStepsPerPlanMax = 512;

struct AddFinalizer {
  bool operator==(const AddFinalizer&) const = default;
};
// Writes Plan::state as the dialect's status; control leaves it out when nothing changed.
struct WriteState {
  bool operator==(const WriteState&) const = default;
};
struct DeletePod {
  std::string name;
  std::string uid;
  bool operator==(const DeletePod&) const = default;
};
struct DeleteService {
  std::string name;
  std::string uid;
  bool operator==(const DeleteService&) const = default;
};
struct DeleteCompanion {
  CompanionKind kind = CompanionKind::kConfigMap;
  std::string name;
  std::string uid;
  bool operator==(const DeleteCompanion&) const = default;
};
struct DeleteGang {
  std::string name;
  std::string uid;
  bool operator==(const DeleteGang&) const = default;
};
struct DeleteCommand {
  std::string name;
  std::string uid;
  bool operator==(const DeleteCommand&) const = default;
};
// `uid` is empty when it is to be created, else it is brought up to date.
struct UpsertGang {
  std::string uid;
  Gang gang;  // as it is to be
  bool operator==(const UpsertGang&) const = default;
};
struct UpsertCompanion {
  CompanionKind kind = CompanionKind::kConfigMap;
  std::string name;
  std::string uid;
  bool operator==(const UpsertCompanion&) const = default;
};
struct UpsertTensorBoard {
  std::string uid;
  bool operator==(const UpsertTensorBoard&) const = default;
};
struct CreateService {
  ReplicaId id;
  bool operator==(const CreateService&) const = default;
};
struct CreatePod {
  ReplicaId id;
  int attempt = 0;
  bool operator==(const CreatePod&) const = default;
};
struct DropFinalizer {
  bool operator==(const DropFinalizer&) const = default;
};
// The time to live is over: the job itself goes.
struct DeleteJob {
  std::string uid;
  bool operator==(const DeleteJob&) const = default;
};

using Step = std::variant<AddFinalizer, WriteState, DeletePod, DeleteService, DeleteCompanion, DeleteGang,
                          DeleteCommand, UpsertGang, UpsertCompanion, UpsertTensorBoard, CreateService,
                          CreatePod, DropFinalizer, DeleteJob>;

// What happened, for people. The engine says what, the dialect finds the words its
// users know (or none). Told only after the state that it belongs to is written;
// those about single writes (kPodCreated ...) are told by control after the write.
enum class NoteKind {
  kJobCreated,
  kJobInitialized,
  kJobRunning,
  kJobRestarting,  // cause is set
  kJobSucceeded,
  kJobFailed,  // cause is set
  kJobTerminated,
  kJobPaused,
  kJobResumed,
  kReplicaEnded,  // replica, exit_code
  kReplicaDisrupted,
  kReplicaFailed,  // beyond its policy, though the job goes on
  kActionTaken,    // a rule's action; text is its name
  kCommandTaken,   // a command; text is the action's name
  kAdvice,         // reason in `reason`, text in `text`
  kPodCreated,
  kPodCreateFailed,
  kPodDeleted,
  kPodDeleteFailed,
  kServiceCreated,
  kServiceCreateFailed,
  kServiceDeleted,
  kServiceDeleteFailed,
  kGangCreated,
  kGangFailed,
  kGangDeleted,
  kGangWaiting,
  kCompanionFailed,
  kTensorBoardCreated,
  kJobExpired,  // deleted because its time to live is over
  kJobExpireFailed,
  kInvalidSpec,
};

struct Note {
  NoteKind kind = NoteKind::kJobCreated;
  std::optional<ReplicaId> replica;
  std::string object;  // the name of the pod, service or gang it is about
  int exit_code = 0;
  Cause cause;
  std::string reason;
  std::string text;               // an error message, an action's name
  int attempt = 0;                // of kPodCreated: above 0 when the replica was there before
  std::optional<Time> at;         // of kJobRunning: when
  Action action;                  // of kActionTaken and kCommandTaken
  std::optional<Duration> delay;  // of kActionTaken: it will be taken that much later

  bool operator==(const Note&) const = default;
};

// Why nothing (more) is done now: for `explain`, `describe` and the waiting user.
enum class WaitKind {
  kNotManaged,
  kDeleting,
  kGangPending,
  kDependsOn,
  kOldPods,      // pods of an earlier attempt have not gone yet
  kTerminating,  // a pod is being deleted; its name is not free yet
  kPaused,
  kCompanion,   // an object that must exist is not there
  kNotStarted,  // pods are there but have not started
  kDelayedAction,
  kTimeToLive,
  kMoreSteps,  // the rest of a large plan
};

struct Wait {
  WaitKind kind = WaitKind::kNotStarted;
  std::string text;  // a sentence a person can act on

  bool operator==(const Wait&) const = default;
};

struct Plan {
  JobState state;
  std::vector<Step> steps;
  std::optional<Time> wake;
  std::vector<Note> notes;
  std::vector<Wait> waits;

  bool operator==(const Plan&) const = default;
};

// One line per step: "create pod train-worker-0 (attempt 1)".
std::string to_string(const JobSpec& spec, const Step& step);
std::string_view to_string(WaitKind kind);
std::string_view to_string(NoteKind kind);
std::string_view to_string(CompanionKind kind);

}  // namespace trainyard::model
