// group_status: what PodGroups and Queues say after a pass, in the words that users of each
// group know. Pure. Answers the whole new status, or nothing when it is already so: a steady
// world is written once. Another kind of wait is told at once; a reason that only changed its figures
// at most once a minute, or a busy cluster would rewrite its whole backlog with every binding.
//   volcano        phase Pending Inqueue Running Completed Unknown; Unschedulable, Scheduled
//   kube-batch     phase Pending Running Unknown; Unschedulable
//   coscheduling   phase Pending Scheduling Running Finished Failed
//   t9k            SufficientGroupMember, GroupScheduled; allocated; counts of pods
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/json.h"
#include "sched/decisions.h"
#include "sched/gangs_from.h"

namespace trainyard::sched {

// What a pass decided about one gang.
struct Verdict {
  bool admitted = false;             // its pods may be made
  bool bound = false;                // got nodes in this pass
  const Waiting* waiting = nullptr;  // null: has nothing to wait for
};
// Of the gangs about which something was decided, by their ids, which are referred to.
using Verdicts = std::map<std::string_view, Verdict>;
Verdicts verdicts_of(const Decisions& decisions);

// Stands for all that group_status reads of a gang.
uint64_t gang_print(const Cluster& cluster, const Gang& gang, const Tally& tally);
// Stands for all that group_status reads besides the group itself: while it is the same, and the group too,
// so is the answer. nullopt: the time counts as well.
std::optional<uint64_t> status_print(uint64_t gang_print, const Verdict& verdict);

// The new `status` of a PodGroup; nullopt: as it is. `g`: index of its gang.
std::optional<json::object> group_status(const json::object& group, const Snapshot& snapshot, int g,
                                         const Verdict& verdict, Time now);

// What the gangs of one queue are together.
struct QueueSum {
  int gangs = 0;
  Amounts held;
  Tally pods;
  std::map<std::string, int> phases;  // of those that come from groups
};
// By the name that the queue has in the snapshot.
using QueueSums = std::map<std::string, QueueSum, std::less<>>;
// The phase that a queue counts a gang under; "" of one without a group.
std::string counted_phase(const GroupSeen* group, const Gang& gang, const Tally& tally);
// A gang more, or one less, which was counted so.
void count(QueueSums& sums, const Cluster& cluster, const Gang& gang, const Tally& tally,
           const std::string& phase, int times);
QueueSums queue_sums(const Snapshot& snapshot);

// The new `status` of a Queue; nullopt: as it is.
std::optional<json::object> queue_status(const json::object& queue, const Snapshot& snapshot,
                                         const QueueSums& sums, Time now);

}  // namespace trainyard::sched
