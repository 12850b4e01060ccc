// Reserve: where and when the first gang that does not fit will be, so that those behind it may
// use what it does not need, and only that. The gangs that must end for it are those known to
// end first; when the end of one is not known, nor is the moment it starts.
#pragma once

#include "sched/pass.h"

namespace trainyard::sched {

// Takes the gang's place in the shadow and notes the reservation. False when it would not fit
// even when all gangs have ended. REQUIRES: nothing is reserved yet.
bool reserve(Pass& pass, int g);

// Whether the gang is gone before the reserved gang starts.
bool ends_before_reserved(const Pass& pass, int g);

}  // namespace trainyard::sched
