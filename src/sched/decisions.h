// Policy: the settings of the scheduler. Decisions: its answer, as data. Pure values; equal
// inputs give equal decisions. Any prefix of the evictions, then of the bindings, is safe to
// have been carried out: the next pass completes it or takes it back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace trainyard::sched {

struct Policy {
  bool preempt = true;                               // by queue priority, and by PriorityClass inside a queue
  bool reclaim = true;                               // between queues, what one holds beyond its part
  bool backfill = true;                              // a gang may overtake one that does not fit
  Duration aging_step = std::chrono::minutes(10);    // each waited step is worth one point of job priority
  Duration overdue_after = std::chrono::hours(4);    // from then on before every job priority
  Duration reserve_after = std::chrono::minutes(5);  // from then on nobody may delay the first that waits
  Duration hold_place = std::chrono::minutes(10);    // how long a broken gang keeps its place
  int search_steps_max = 20'000;                     // of the exact search, for one gang
  int search_steps_pass_max = 200'000;               // and for all of them
  int preempt_tries_max = 64;                        // shapes of gangs that look for victims in one pass
  bool operator==(const Policy&) const = default;
};

struct Binding {
  std::string gang;
  std::string uid;
  std::string node;
  bool operator==(const Binding&) const = default;
};

// A volume that somebody made, for a claim of a gang that is bound. Claims that have no volume and are not
// spoken of get one that is made for the node.
struct VolumeBinding {
  std::string gang;
  std::string claim;  // "namespace/name"
  std::string volume;
  bool operator==(const VolumeBinding&) const = default;
};

enum class EvictionCause {
  kPreempted,  // for a gang that goes before it
  kReclaimed,  // its queue holds more than its part
  kReleased,   // part of a gang that cannot be completed
  kCompleted,  // the rest of a gang that is already being evicted
};

struct Eviction {
  std::string gang;
  std::string uid;
  EvictionCause cause = EvictionCause::kPreempted;
  std::string beneficiary;  // the gang that gets the room; "" when it is nobody's yet
  bool operator==(const Eviction&) const = default;
};

enum class WaitKind {
  kWaitFor,     // comes by itself: what it needs will be free
  kInfeasible,  // never, unless somebody changes the gang, its queue or the cluster
};

enum class WaitCode {
  kMembersMissing,  // fewer pods than its minimum exist
  kNoGroup,         // its pods name a PodGroup that does not exist
  kNoQueue,         // its queue does not exist
  kQueueClosed,     //
  kNamespace,       // its queue does not serve its namespace
  kQueueFull,       // the queue holds all it may
  kGuaranteed,      // what is free is kept for other queues
  kNoNode,          // no node takes one of its pods, however empty
  kTooLarge,        // does not fit even on an empty cluster
  kResources,       // not now
  kLeaving,         // fits when pods that are being deleted are gone
  kBehindReserved,  // would delay the gang that is reserved for
  kOwnMembers,      // its own former pods are still leaving
  kExtraMembers,    // runs; members beyond its minimum wait
  kNotAdmitted,     // its pods are not made yet
  kClaims,          // claims that its pods mount are not there, or there are no volumes for them
};

struct Waiting {
  std::string gang;
  WaitKind kind = WaitKind::kWaitFor;
  WaitCode code = WaitCode::kResources;
  std::string text;        // a reason a person can act on
  bool timed_out = false;  // has waited longer than it allowed
  bool operator==(const Waiting&) const = default;
};

// Stands for the kind of wait: the same while only figures and the names of others change.
uint64_t kind_of(const Waiting& waiting);

// The gang that nobody may delay, and where it will be.
struct Reservation {
  std::string gang;
  std::vector<std::string> nodes;  // one for each member that is placed there, sorted
  std::optional<Time> from;        // when it is known
  bool operator==(const Reservation&) const = default;
};

struct Decisions {
  std::vector<std::string> admitted;  // gangs whose pods may be made now
  std::vector<Eviction> evictions;
  std::vector<Binding> bindings;
  std::vector<VolumeBinding> volumes;
  std::vector<Waiting> waiting;  // in the order in which they were considered
  std::optional<Reservation> reservation;
  std::optional<Time> wake;  // when time alone changes the answer
  bool operator==(const Decisions&) const = default;
};

}  // namespace trainyard::sched
