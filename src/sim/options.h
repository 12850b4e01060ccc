// Options: everything about a simulated world that a seed decides beforehand: which
// faults may strike and how often, how many jobs and users there are, how long the
// trouble lasts. A value; equal seeds give equal options. The shrinker takes things
// away from it, so every stream of chance is seeded apart: switching one fault off
// leaves the numbers that the others draw as they were.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/rng.h"
#include "base/time.h"

namespace trainyard::sim {

enum class Fault {
  // The watch network, per operator and per resource.
  kWatchDelay,
  kWatchDrop,        // the connection is lost, the watch resumes from its revision
  kWatchDuplicate,   // an event arrives twice
  kWatchGone,        // 410: the log was compacted, list again
  kWatchFreeze,      // nothing arrives for long, while other resources go on
  kWatchTimeTravel,  // after a reconnect old events come again
  // The API.
  kApiConflict,
  kApiTooMany,
  kApiServerError,
  kApiLost,         // no answer, nothing was done
  kApiLostApplied,  // no answer, it was done
  kApiSlow,
  // The operator's process.
  kCrash,
  kPause,      // stopped for a while, then goes on as if nothing had happened
  kClockStep,  // one operator's clock is wrong by up to an hour
  kRival,      // a second operator
  // Pods and nodes.
  kPodFails,
  kEviction,
  kNodeLoss,
  kStuckDeletion,
  kImagePull,
  kPhaseFlap,
  kPodCollected,  // an ended pod is deleted before long
  // People.
  kScale,
  kPolicyEdit,
  kInvalidEdit,
  kSuspend,
  kDeleteJob,
  kRecreateJob,  // delete, then the same name again
  kDeletePod,
  kDeleteService,
  kStripLabels,
  kCommand,     // Volcano's commands
  kForeignPod,  // a pod of somebody else has a name that the job wants
  kOrphan,      // a job is deleted and what it made is to stay
  // Admission.
  kQuota,  // pods are refused for a while
  // Of crowded worlds.
  kDrain,       // a node is cordoned and emptied
  kQueueClose,  // a queue takes nobody in for a while
  // Of worlds with several jobs.
  kMove,  // a pod or a service is given to another job of its kind
  // Of crowded worlds, too.
  kQueueShrink,     // a queue may hold less for a while, be it less than it holds
  kRivalScheduler,  // a second scheduler
  // Of all worlds.
  kRefusal,      // a node has no room for a pod that it was given
  kBookmark,     // a watch tells how far it is, and nothing else
  kOldManifest,  // the manifest of the beginning is applied again
  kCount,
};

// How wrong a clock may be. With rivals less, because times that are written ahead must
// come true before the world is at rest, and rivals cost a lease write every two seconds.
inline constexpr Duration kWrongBy{3'600'000};
inline constexpr Duration kWrongByRivals{90'000};

inline constexpr int kFaultCount = static_cast<int>(Fault::kCount);
std::string_view to_string(Fault fault);
std::optional<Fault> fault_named(std::string_view name);

class FaultSet {
 public:
  bool has(Fault fault) const { return (bits_ >> static_cast<int>(fault)) & 1u; }
  void add(Fault fault) { bits_ |= uint64_t{1} << static_cast<int>(fault); }
  void remove(Fault fault) { bits_ &= ~(uint64_t{1} << static_cast<int>(fault)); }
  void remove(const FaultSet& others) { bits_ &= ~others.bits_; }
  bool empty() const { return bits_ == 0; }
  bool operator==(const FaultSet&) const = default;

 private:
  uint64_t bits_ = 0;
};

// Streams of chance, each seeded apart.
enum class Stream {
  kOptions,
  kJobs,
  kUsers,
  kKubelet,
  kNetwork,
  kApi,
  kProcess,
  kSettle,
  kQuota,
  kYard,
  kScheduler,
  kSecondScheduler
};

Rng stream(uint64_t seed, Stream which);

struct Options {
  uint64_t seed = 0;
  FaultSet faults;
  unsigned fault_percent = 10;  // how often an enabled fault strikes where it could
  int jobs = 1;
  int replicas_max = 3;
  int user_actions = 0;
  int nodes = 2;
  Duration trouble{60'000};  // how long the first phase lasts
  // The real scheduler places the pods, on nodes with too little room for everybody.
  bool crowded = false;

  bool operator==(const Options&) const = default;
  // Whether the scheduler keeps room for one that has waited for long; else nobody is made to
  // wait for another.
  bool reserves_room() const { return seed % 2 == 1; }
  // Whether operators keep what they see as text, as on a cluster; else as documents, which is faster.
  bool keeps_text() const { return seed / 2 % 4 == 0; }
};

Options derive_options(uint64_t seed);

// "seed 7: 2 jobs, up to 3 replicas, 4 user actions, 60s of trouble; faults at 12%: crash, scale".
std::string to_string(const Options& options);

}  // namespace trainyard::sim
