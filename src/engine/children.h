// Children other than pods: services of replicas, companions of the job, its gang and
// its TensorBoard. Each is made when missing, mended when it differs, and deleted by
// uid when it is no longer wanted.
#pragma once

#include "engine/pass.h"

namespace trainyard::engine {

// Services: one per replica, where the spec wants them.
void keep_services(Pass& pass);
void delete_services(Pass& pass);

// Companions. Returns whether pods may be made: an object that somebody else must
// provide holds them back.
bool keep_companions(Pass& pass);
void delete_companions(Pass& pass);

// The gang. Returns whether the scheduler has let it in (or is not asked).
bool keep_gang(Pass& pass);
void delete_gang(Pass& pass);

void keep_tensorboard(Pass& pass);

}  // namespace trainyard::engine
