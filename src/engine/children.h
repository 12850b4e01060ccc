// Children other than pods and the gang: services of replicas, companions of the job and
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

void keep_tensorboard(Pass& pass);

}  // namespace trainyard::engine
