// Budget: how often replicas may start again, all of them together. The count is kept
// on the job, so neither a new pod nor a restart of ours forgets it.
#pragma once

#include "engine/pass.h"

namespace trainyard::engine {

// Whether one more restart may be ordered.
bool may_restart(const Pass& pass);
// Charges restarts of a replica to the job and to its role.
void charge(Pass& pass, model::ReplicaId id, int restarts);
// Charges what kubelets restarted in place since the last pass, each restart once; ends
// the job when that reaches the limit.
void charge_in_place(Pass& pass);

}  // namespace trainyard::engine
