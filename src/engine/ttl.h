// Time to live: a finished job is deleted this long after its end.
#pragma once

#include "engine/pass.h"

namespace trainyard::engine {

// REQUIRES: the job is finished.
void expire(Pass& pass);

}  // namespace trainyard::engine
