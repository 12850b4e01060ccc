#include "model/job_state.h"

#include <algorithm>

#include "base/check.h"

namespace trainyard::model {
namespace {

// First record whose id is not below `id`.
template <typename Records>
auto lower_bound_of(Records& records, ReplicaId id) {
  return std::lower_bound(records.begin(), records.end(), id,
                          [](const ReplicaRecord& record, ReplicaId wanted) { return record.id < wanted; });
}

}  // namespace

const ReplicaRecord* JobState::find(ReplicaId id) const {
  auto at = lower_bound_of(replicas, id);
  return at != replicas.end() && at->id == id ? &*at : nullptr;
}

ReplicaRecord& JobState::record(ReplicaId id) {
  auto at = lower_bound_of(replicas, id);
  if (at != replicas.end() && at->id == id) return *at;
  ReplicaRecord fresh;
  fresh.id = id;
  fresh.attempt = attempt_of(id);
  return *replicas.insert(at, std::move(fresh));
}

int JobState::floor_of(int role) const {
  bool known = role >= 0 && static_cast<size_t>(role) < roles.size();
  return known ? std::max(floor, roles[role].floor) : floor;
}

int JobState::attempt_of(ReplicaId id) const {
  const ReplicaRecord* record = find(id);
  return record ? std::max(floor_of(id.role), record->attempt) : floor_of(id.role);
}

std::optional<Outcome> JobState::outcome_of(ReplicaId id) const {
  const ReplicaRecord* record = find(id);
  if (record == nullptr || record->attempt < floor_of(id.role)) return std::nullopt;
  return record->outcome;
}

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::kNew:
      return "New";
    case Phase::kQueued:
      return "Queued";
    case Phase::kStarting:
      return "Starting";
    case Phase::kRunning:
      return "Running";
    case Phase::kRestarting:
      return "Restarting";
    case Phase::kPausing:
      return "Pausing";
    case Phase::kPaused:
      return "Paused";
    case Phase::kResuming:
      return "Resuming";
    case Phase::kCompleting:
      return "Completing";
    case Phase::kTerminating:
      return "Terminating";
    case Phase::kFinished:
      return "Finished";
  }
  return "";
}

std::string_view to_string(ResultKind result) {
  switch (result) {
    case ResultKind::kSucceeded:
      return "Succeeded";
    case ResultKind::kFailed:
      return "Failed";
    case ResultKind::kTerminated:
      return "Terminated";
  }
  return "";
}

std::string_view to_string(CauseKind kind) {
  switch (kind) {
    case CauseKind::kNone:
      return "None";
    case CauseKind::kReplicaFailed:
      return "ReplicaFailed";
    case CauseKind::kReplicaPermanent:
      return "ReplicaPermanent";
    case CauseKind::kReplicaDisrupted:
      return "ReplicaDisrupted";
    case CauseKind::kBudgetSpent:
      return "BudgetSpent";
    case CauseKind::kDeadline:
      return "Deadline";
    case CauseKind::kNothingLeft:
      return "NothingLeft";
    case CauseKind::kRule:
      return "Rule";
    case CauseKind::kCommand:
      return "Command";
    case CauseKind::kInvalid:
      return "Invalid";
  }
  return "";
}

std::string_view to_string(Trigger trigger) {
  switch (trigger) {
    case Trigger::kFailed:
      return "Failed";
    case Trigger::kDisrupted:
      return "Disrupted";
    case Trigger::kDeleted:
      return "Deleted";
    case Trigger::kPending:
      return "Pending";
    case Trigger::kRoleCompleted:
      return "RoleCompleted";
    case Trigger::kRoleFailed:
      return "RoleFailed";
    case Trigger::kGangLost:
      return "GangLost";
    case Trigger::kAny:
      return "Any";
  }
  return "";
}

std::string_view to_string(ActionKind kind) {
  switch (kind) {
    case ActionKind::kNone:
      return "None";
    case ActionKind::kRestart:
      return "Restart";
    case ActionKind::kFail:
      return "Fail";
    case ActionKind::kAbort:
      return "Abort";
    case ActionKind::kResume:
      return "Resume";
    case ActionKind::kTerminate:
      return "Terminate";
    case ActionKind::kComplete:
      return "Complete";
  }
  return "";
}

std::string_view to_string(Scope scope) {
  switch (scope) {
    case Scope::kPod:
      return "Pod";
    case Scope::kPartition:
      return "Partition";
    case Scope::kRole:
      return "Role";
    case Scope::kJob:
      return "Job";
  }
  return "";
}

}  // namespace trainyard::model
