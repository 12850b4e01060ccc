// Pause: stops a job that may go on later. Everything it made goes (pods that ended
// stay where the dialect says so); a resume starts a new attempt and a new deadline.
#pragma once

#include "engine/pass.h"

namespace trainyard::engine {

// Whether the job is to stand still now.
bool wants_pause(const Pass& pass);
// One pass of a paused job. REQUIRES: wants_pause(pass).
void stand_still(Pass& pass);
// Leaves the pause behind if there was one.
void resume_if_paused(Pass& pass);

}  // namespace trainyard::engine
