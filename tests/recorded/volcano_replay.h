// Replays one recording of Volcano: what was done to its job is done to ours, and what
// was seen is compared. The scheduler's part (bindings, the PodGroup's phase) is taken
// from the recording.
#pragma once

#include <vector>

#include "harness.h"

namespace trainyard::recorded {

// REQUIRES: has_volcano_job(recording).
std::vector<Difference> replay_volcano(const Recording& recording);

bool has_volcano_job(const Recording& recording);

}  // namespace trainyard::recorded
