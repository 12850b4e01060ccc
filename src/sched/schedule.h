// schedule: the scheduler as one pure function. Same input, in whatever order, same output;
// integers only. Each gang that needs nodes gets them all, or none and a reason.
//
// What the output promises (checked by schedule_random_test.cc):
//   - after the bindings every gang is whole or as it was; no node holds more than it has;
//   - no queue holds more than its capacity, none takes what others are guaranteed;
//   - a gang is only evicted whole, for one that then fits and has the right to its place;
//   - carried out again and again, with what was evicted waiting anew, it comes to rest.
#pragma once

#include <span>

#include "base/time.h"
#include "sched/cluster.h"
#include "sched/decisions.h"
#include "sched/gang.h"
#include "sched/standing.h"

namespace trainyard::sched {

// While the input is the same and Decisions::wake has not come, it would say the same again: do not ask.
Decisions schedule(const Cluster& cluster, std::span<const Gang> gangs, const Policy& policy, Time now);
// The same, of one that is kept. REQUIRES: it stands for these gangs.
Decisions schedule(const Standing& standing, std::span<const Gang> gangs, const Policy& policy, Time now);

}  // namespace trainyard::sched
