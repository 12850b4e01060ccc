// JobState: what must be remembered about a job, all of it kept on the job object
// itself, so that nothing a restart of ours could lose decides anything. Pure value.
//
// Attempts: `attempt` is the highest number handed out. A restart takes the next
// number and raises the floor of what it covers: the job, a role or single replicas.
// A pod whose attempt is below its replica's floor is old: it is deleted, and what
// it does meanwhile counts for nothing. An outcome belongs to one attempt.
//
// Invariants: replicas is sorted by id and holds only entries that say something;
// restarts never falls; a result, once set, never changes.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/json.h"
#include "model/job_spec.h"

namespace trainyard::model {

enum class Phase {
  kNew,       // never planned
  kQueued,    // waiting to be let in by the gang scheduler
  kStarting,  // pods are being made or have not all started
  kRunning,
  kRestarting,  // a failure or disruption is being repaired; not yet running again
  kPausing,     // stopping because somebody asked; pods still there
  kPaused,
  kResuming,     // from the end of a pause until running again
  kCompleting,   // success is certain, pods are being cleared away
  kTerminating,  // stopping for good because a rule or a person said so
  kFinished,
};

enum class ResultKind { kSucceeded, kFailed, kTerminated };

// Why a job failed, waits or restarts: the reason as data, the words for a person.
enum class CauseKind {
  kNone,
  kReplicaFailed,     // beyond its policy
  kReplicaPermanent,  // ... because the exit code is a permanent one
  kReplicaDisrupted,  // evicted or lost, and its policy forbids another start
  kBudgetSpent,
  kDeadline,
  kNothingLeft,  // every replica that could have brought success has ended without
  kRule,         // a rule of the manifest said so
  kCommand,      // a person said so
  kInvalid,
};

struct Cause {
  CauseKind kind = CauseKind::kNone;
  std::string role;  // as Role::name; "" when no replica is to blame
  int index = -1;
  int exit_code = 0;     // meaningful for kReplica* and kBudgetSpent with a role
  int failed_count = 0;  // replicas of the role that had failed then
  std::string detail;    // the pod's own reason or message, or the rule

  bool operator==(const Cause&) const = default;
};

enum class Outcome { kSucceeded, kFailed };

struct ReplicaRecord {
  ReplicaId id;
  int attempt = 0;  // this replica's own floor
  std::optional<Outcome> outcome;
  int exit_code = 0;
  // The pod whose in-place restarts have been charged, and how many of them.
  std::string counted_uid;
  int counted = 0;

  bool operator==(const ReplicaRecord&) const = default;
};

// A rule with a delay that waits for its time.
struct DelayedAction {
  ReplicaId id;
  std::string uid;  // the pod it was about
  Trigger trigger = Trigger::kFailed;
  Action action;
  Time due;

  bool operator==(const DelayedAction&) const = default;
};

struct RoleState {
  int floor = 0;
  int made = 0;                // replicas below this index have existed (see JobState::made_attempt)
  int restarts = 0;            // charged, of this role's replicas
  int completed_attempt = -1;  // kRoleCompleted was answered in this attempt
  int failed_attempt = -1;     // kRoleFailed was answered in this attempt

  bool operator==(const RoleState&) const = default;
};

struct JobState {
  Phase phase = Phase::kNew;
  std::optional<ResultKind> result;
  Cause cause;  // of the result, or of the restart under way
  std::optional<Time> started_at;
  std::optional<Time> finished_at;

  int attempt = 0;
  int floor = 0;
  int kills = 0;        // how often all pods were ordered to stop (Volcano's version)
  int restarts = 0;     // charged to the budget
  int disruptions = 0;  // not charged
  int resumes = 0;
  bool budget_refused = false;  // a restart was wanted and there was none left
  bool initialized = false;     // every child has existed at once
  // All replicas below RoleState::made have existed at this attempt or a lower one, so
  // one of them that is missing without an outcome was deleted by somebody.
  int made_attempt = -1;
  // Stopped by a rule or a command, where the spec has no switch for it.
  RunMode asked_mode = RunMode::kRun;
  bool gang_told = false;      // what the scheduler has against the gang was told; it may wait still
  int gang_lost_attempt = -1;  // kGangLost was answered in this attempt
  std::string last_command_uid;
  int64_t observed_generation = 0;

  std::vector<RoleState> roles;  // one per role of the spec
  std::vector<ReplicaRecord> replicas;
  std::vector<DelayedAction> delayed;

  bool operator==(const JobState&) const = default;

  // Null when nothing is remembered of it.
  const ReplicaRecord* find(ReplicaId id) const;
  ReplicaRecord& record(ReplicaId id);
  // The attempt below which everything of the role is old.
  int floor_of(int role) const;
  // The attempt a pod of this replica must have; older ones are old.
  int attempt_of(ReplicaId id) const;
  // The outcome of the present attempt.
  std::optional<Outcome> outcome_of(ReplicaId id) const;
  bool finished() const { return result.has_value(); }
};

// The state as JSON, compact enough for a status field (ranges of indexes), and
// back. Entries of roles that the spec no longer has are dropped. Whatever cannot be
// read is taken as never written: decode never fails.
json::object encode_state(const JobSpec& spec, const JobState& state);
JobState decode_state(const JobSpec& spec, const json::object& encoded);

std::string_view to_string(Phase phase);
std::string_view to_string(ResultKind result);
std::string_view to_string(CauseKind kind);
std::string_view to_string(Trigger trigger);
std::string_view to_string(ActionKind kind);
std::string_view to_string(Scope scope);

}  // namespace trainyard::model
