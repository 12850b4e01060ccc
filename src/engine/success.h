// Success: whether the job has reached its end by what its replicas did.
#pragma once

#include "engine/pass.h"

namespace trainyard::engine {

// Remembers every replica that ended well, before the pod that shows it may be lost.
void record_successes(Pass& pass);
// Ends the job when the success rule is met.
void check_success(Pass& pass);
// Ends the job when nothing is left that could meet it.
void check_nothing_left(Pass& pass);

}  // namespace trainyard::engine
