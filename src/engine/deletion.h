// Deletion: a job that is being deleted makes nothing any more. Owned objects go by
// garbage collection; where our finalizer holds the job, pods go first, by uid, and the
// finalizer is dropped once, when the last is gone.
#pragma once

#include "engine/pass.h"

namespace trainyard::engine {

// REQUIRES: seen.deleting.
void let_go(Pass& pass);
// Puts the finalizer on a living job that wants it, takes it off one that does not.
void keep_finalizer(Pass& pass);

}  // namespace trainyard::engine
