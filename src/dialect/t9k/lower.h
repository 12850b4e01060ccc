// lower: the TensorFlowTrainingJob as the engine understands it. Pure; never throws.
//
// What T9k means, as data:
//  - pods are always made anew, never restarted by the kubelet; one budget for all replicas;
//  - the main replica (chief 0, else worker 0) alone decides the job: its success is the
//    job's, and its failure beyond policy or budget is the job's too. Any other replica that
//    may not restart is reported (ReplicaFailure) and the job goes on;
//  - a disruption is repaired without charge under every policy but Never.
#pragma once

#include <vector>

#include "dialect/shared/dialect.h"

namespace trainyard::t9k {

dialect::LowerResult lower(const json::object& object, const dialect::Settings& settings);

// What may not change once the job is stored: pause.resumeSpecs, scheduler, the replica
// types (state is kept by type) and which replica is the main one. Neither document needs
// to be valid.
std::vector<dialect::Problem> validate_update(const json::object& before, const json::object& after);

}  // namespace trainyard::t9k
