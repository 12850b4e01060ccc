// Replays a recording of Volcano that has no Job: pods and PodGroups that people made, for the scheduler.
// What was done to them is done over our store, our scheduler decides, and where pods are bound and what
// PodGroups tell is compared: phase, counts, and which conditions hold. Words and events are not: each
// scheduler has its own.
#pragma once

#include <vector>

#include "harness.h"

namespace trainyard::recorded {

std::vector<Difference> replay_groups(const Recording& recording);

}  // namespace trainyard::recorded
