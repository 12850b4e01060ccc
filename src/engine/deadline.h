// Active deadline: a job that has not ended this long after its start has failed.
// The clock starts when the job may make pods, and anew when it is resumed.
#pragma once

#include "engine/pass.h"

namespace trainyard::engine {

// Ends the job when its time is over, else arms the wake-up.
void enforce_deadline(Pass& pass);

}  // namespace trainyard::engine
