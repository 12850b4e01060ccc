// Commands: what a person asks of a job by an object of its own (Volcano's Command).
// Remembered by uid before it is deleted, so it is carried out once and never lost.
// A person's restart or resume costs no budget.
#pragma once

#include "engine/pass.h"

namespace trainyard::engine {

void take_command(Pass& pass);

}  // namespace trainyard::engine
