// JobSpec: a job as the engine understands it, whichever dialect it was written in.
// Pure value. A difference between dialects is data here, or a line in the dialect's
// lower, render or project; the engine never asks which dialect it is.
//
// Invariants of a JobSpec that came out of a dialect's lower():
//  - roles is not empty, role names are unique and lower case, replicas >= 0;
//  - success names roles that exist; restarts_max, deadlines and ttl are >= 0;
//  - source holds the whole job object after defaulting, for the dialect's own render.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "kube/json.h"

namespace trainyard::model {

inline constexpr int kRolesMax = 64;
inline constexpr int kReplicasMax = 100'000;

// Which replica: a role by its position in JobSpec::roles, and an index in it.
struct ReplicaId {
  int role = 0;
  int index = 0;

  auto operator<=>(const ReplicaId&) const = default;
};

// How much starts anew when one replica must. A partition is a run of
// Role::partition_size neighbouring replicas of one role.
enum class Scope { kPod, kPartition, kRole, kJob };

enum class ActionKind {
  kNone,       // take note, go on
  kRestart,    // start again what `scope` covers
  kFail,       // the job has failed
  kAbort,      // stop, may be resumed
  kResume,     // take up again what was aborted
  kTerminate,  // stop for good
  kComplete,   // stop, successfully
};

struct Action {
  ActionKind kind = ActionKind::kNone;
  Scope scope = Scope::kPod;  // of kRestart

  bool operator==(const Action&) const = default;
};

// What can happen to a replica, a role or the job that a rule may answer.
enum class Trigger {
  kFailed,         // a pod ended with a failure of its own
  kDisrupted,      // a pod was evicted, preempted, lost with its node: it ended, not by its own doing
  kDeleted,        // somebody deleted a pod that had not ended; what no rule answers is made again
  kPending,        // a pod is pending (only with a delay)
  kRoleCompleted,  // every replica of the role has succeeded
  kRoleFailed,     // containers of the role were restarted in place too often
  kGangLost,       // the scheduler says that a running gang is no longer whole
  kAny,            // each of the above except kPending
};

// Exit codes first..last, both included.
struct ExitRange {
  int first = 0;
  int last = 0;

  bool operator==(const ExitRange&) const = default;
};

// "When this happens, do that." A rule with exits matches only kFailed with such a
// code. Rules stand in an ordered table; the first that matches decides.
struct Rule {
  std::vector<Trigger> on;
  std::vector<ExitRange> exits;
  Action action;
  std::optional<Duration> delay;

  bool operator==(const Rule&) const = default;
};

// Pods of this role are made only once the others are ready.
struct DependsOn {
  std::vector<int> roles;
  bool any = false;  // one of them is enough

  bool operator==(const DependsOn&) const = default;
};

struct Role {
  std::string name;   // "worker": in names, labels and TF_CONFIG
  std::string title;  // "Worker": as messages and status spell it
  int replicas = 1;
  // The kubelet restarts failed containers itself; their restarts are charged.
  bool restarts_in_place = false;
  // A replica that ended well is run again (policy Always where we make the pods anew).
  bool runs_forever = false;
  // Task rules first, then the job's; what none matches is `otherwise`.
  std::vector<Rule> rules;
  Action otherwise;
  // Instead of `otherwise` for the one replica that a MainReplica success rule names.
  std::optional<Action> otherwise_main;
  int min_available = 0;                      // for dependants, and for the tally
  bool has_min_available = false;             // the user wrote it: without it dependants do not wait
  int partition_size = 0;                     // 0: no partitions
  std::optional<int> container_restarts_max;  // kRoleFailed at this many
  DependsOn depends_on;

  bool operator==(const Role&) const = default;
};

// The job has succeeded when this one replica has (or, with `or_all`, when every
// replica of its role has, whichever is first).
struct MainReplica {
  ReplicaId id;
  bool or_all = false;
  bool operator==(const MainReplica&) const = default;
};
// ... when every replica of the role has.
struct WholeRole {
  int role = 0;
  bool operator==(const WholeRole&) const = default;
};
// ... when `min_success` have, at once; or, when all are done, when at least
// `min_available` have, and of each role its own minimum if `per_role`.
struct Tally {
  std::optional<int> min_success;
  int min_available = 0;
  bool per_role = false;
  bool operator==(const Tally&) const = default;
};
// ... never by itself: only a rule or a person ends it.
struct NoSuccess {
  bool operator==(const NoSuccess&) const = default;
};
using SuccessRule = std::variant<MainReplica, WholeRole, Tally, NoSuccess>;

// How often replicas may start again, all together. A restart in place counts when
// it is seen, and `in_place_ends_at_limit` fails the job as soon as they reach the
// limit (there is no way to forbid the kubelet the next one).
struct Budget {
  std::optional<int> restarts_max;  // none: no limit
  bool in_place_ends_at_limit = true;
  // A restart that the budget refuses fails the job. If false, the role's otherwise
  // (or otherwise_main) answers the failure instead, with cause kBudgetSpent.
  bool spent_fails_job = true;

  bool operator==(const Budget&) const = default;
};

// Which pods go when the job is done.
enum class Cleanup { kNone, kUnfinished, kAll };

enum class RunMode { kRun, kPause };

// What a pause leaves behind, and what a resume runs again.
struct PauseRule {
  bool keeps_finished = false;  // pods that ended stay, and succeeded replicas are not run again
  bool operator==(const PauseRule&) const = default;
};

enum class GangScheduler { kVolcano, kKubeBatch, kCoscheduling, kT9k };

// The gang of a job: the PodGroup that the scheduler decides on.
struct Gang {
  GangScheduler scheduler = GangScheduler::kVolcano;
  std::string name;
  bool owned = true;        // false: the user made it; it is neither written nor deleted
  bool gates_pods = false;  // pods are made only after the scheduler has let the gang in
  std::string placed_by{};  // the pods' schedulerName, where another is known by this kind of group
  int min_member = 0;
  std::map<std::string, int> min_per_role;
  std::map<std::string, std::string> min_resources;
  std::string queue;
  std::string priority_class;
  int priority = 0;
  std::optional<int> timeout_seconds;

  bool operator==(const Gang&) const = default;
};

enum class CompanionKind { kService, kConfigMap, kSecret, kNetworkPolicy, kPersistentVolumeClaim };

// An object that belongs to the whole job. Its body is the dialect's business;
// `digest` changes when the body must be written anew.
struct Companion {
  CompanionKind kind = CompanionKind::kConfigMap;
  std::string name;
  uint64_t digest = 0;
  bool outlives_run = false;  // stays when the job is done or stopped (claims do)
  bool must_exist = false;    // never made by us: pods wait until somebody has made it

  bool operator==(const Companion&) const = default;
};

// Something a person should hear about the manifest, once, as a warning event.
struct Advice {
  std::string reason;
  std::string message;

  bool operator==(const Advice&) const = default;
};

struct JobSpec {
  std::string dialect;  // for people and metrics; never decided upon
  std::string name_space;
  std::string name;
  std::string uid;
  int64_t generation = 0;
  // A pod's name is <pod_prefix>-<role>-<index>.
  std::string pod_prefix;

  std::vector<Role> roles;
  SuccessRule success;
  // Running from when this many replicas run or have ended.
  int running_min = 0;
  Budget budget;
  Cleanup cleanup = Cleanup::kNone;
  RunMode mode = RunMode::kRun;
  PauseRule pause;
  std::optional<Duration> active_deadline;
  std::optional<Duration> ttl_after_finished;
  std::optional<Gang> gang;
  bool service_per_replica = true;
  std::vector<Companion> companions;
  std::optional<std::string> tensorboard;  // the name of the child
  bool managed = true;                     // false: another controller looks after it
  bool holds_deletion = false;             // our finalizer keeps the job until its pods are gone
  bool tells_replica_endings = true;       // an event for each replica that ends
  std::vector<Advice> advice;

  std::shared_ptr<const json::object> source;
  // The dialect's own reading of the source, for its render and project; null where it keeps none.
  std::shared_ptr<const void> reading;

  int total_replicas() const;
  std::string pod_name(ReplicaId id) const;
  // Whether that is its name.
  bool is_pod_name(ReplicaId id, std::string_view name) const;
  // The role's position, or -1.
  int role_named(std::string_view role) const;
};

// Whether two specs ask the engine for the same thing, whatever they are called:
// dialect, names, titles, events and source aside.
bool same_intent(const JobSpec& a, const JobSpec& b);

}  // namespace trainyard::model
