// Finish: the end of a job, set once. Nothing takes a result back.
#pragma once

#include "engine/pass.h"

namespace trainyard::engine {

// Ends the job. `by_order` is set when a rule or a person asked for the stop: then the
// job is completing or terminating until its pods are cleared away.
void finish(Pass& pass, model::ResultKind result, model::Cause cause, bool by_order = false);

// After the end: what the cleanup rule removes, the phase, the time to live.
void clean_up(Pass& pass);

}  // namespace trainyard::engine
