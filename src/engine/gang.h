// Gang: the PodGroup of a job that starts together. It is made when missing, mended when it differs,
// deleted by uid when it is no longer wanted.
//
// While a replica waits for a node it never asks for more pods than there can be: one that has ended
// for good is not made again, and a scheduler that waits for it would keep the others from ever
// starting anew. One that has succeeded and still has its pod counts as there, for schedulers too.
#pragma once

#include "engine/pass.h"

namespace trainyard::engine {

// Returns whether the scheduler has let it in (or is not asked). What the scheduler has against it
// is told once, when it begins to wait.
bool keep_gang(Pass& pass);
void delete_gang(Pass& pass);

}  // namespace trainyard::engine
