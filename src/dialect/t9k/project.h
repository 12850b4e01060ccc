// project: the status of a TensorFlowTrainingJob, and what is remembered in it. Pure.
//
// phase       Pending, Running, Paused, Resuming, Succeeded, Failed. A restart under way is
//             Running with ReplicaFailure True. A result, once reached, is never taken back.
// conditions  in the order Initialized, Running, Failed, Completed, ReplicaFailure, Paused;
//             Failed only at the end, Paused only once a pause was asked for. Completed
//             means ended, well or not. lastTransitionTime moves when the status flips.
// tasks       one per type, with the pods as they are; a replica whose pod is still to come
//             (or is not yet placed) is Creating, one whose pod was there and is not to come
//             again is Deleted. A replica that never had a pod and is not to have one now
//             (a job created paused) is left out.
// trainyard   JobState; fields of others in the status are kept.
//
// An invalid spec ends nothing: the phase stays as it was (Pending at first) and condition
// Failed is True with reason InvalidSpec and every problem in its message, so that
// `kubectl wait --for=condition=Failed` and `kubectl describe` tell, pods that already run
// are not given up because of a slip in an edit, and mending the spec takes it back.
#pragma once

#include "dialect/shared/dialect.h"

namespace trainyard::t9k {

json::object project(const model::Observation& seen, const model::JobState& state,
                     const json::object& previous, Time now);

// A job that another operator finished, without our memory in it, is finished here too.
model::JobState recall(const model::JobSpec& spec, const json::object& object);

json::object project_invalid(const json::object& object, const std::vector<dialect::Problem>& problems,
                             Time now);

}  // namespace trainyard::t9k
