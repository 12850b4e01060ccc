// The engine: everything that is ever decided about a job, as one pure function.
// Equal observations and equal times give equal plans. It never learns which event
// woke it, which dialect it serves, or what an earlier pass thought: what must be
// known is in the observation. Every rule about time sets Plan::wake.
//
// plan() runs the policies in a fixed order (engine.cc shows it in one screen); each
// policy is one file with one function over the Pass, and its test beside it.
#pragma once

#include "base/time.h"
#include "model/observation.h"
#include "model/plan.h"

namespace trainyard::engine {

// REQUIRES: seen.pods and seen.services sorted by id; seen.state.roles as long as seen.spec.roles.
model::Plan plan(const model::Observation& seen, Time now);

}  // namespace trainyard::engine
