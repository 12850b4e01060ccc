// Phase of an active job: how far its replicas are. Also remembers when all children
// have existed at once, which is how a deleted pod is told from one never made.
#pragma once

#include "engine/pass.h"

namespace trainyard::engine {

// REQUIRES: the job is neither finished nor paused. `admitted`: the gang was let in.
void set_phase(Pass& pass, bool admitted);

}  // namespace trainyard::engine
