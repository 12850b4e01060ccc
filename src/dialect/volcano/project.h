// The status of a Volcano Job, from what was seen and what is remembered. Pure.
//
// Phases: Pending until running; Restarting while pods of an earlier attempt remain,
// Pending again after that; Aborting and Aborted, then Restarting or Pending; Completing
// and Terminating only when an action ended the job; Completed, Failed, Terminated.
// `conditions` holds one entry per phase, moved to the end when it is entered again.
// Where Volcano passes through Restarting in a moment that we do not show (a resume, a
// restart that the budget refused), its entry is there all the same.
//
// Different from Volcano, on purpose: finished pods that are kept are counted; times
// change with the phase only, not with every count; `state.reason` and `state.message`
// say why (Volcano leaves them empty); what plugins own is listed until the job stops.
// Our memory is one more entry of `controlledResources`, the only free map there is.
#pragma once

#include "dialect/shared/dialect.h"
#include "kube/json.h"
#include "model/job_state.h"
#include "model/observation.h"

namespace trainyard::dialect::vc {

json::object project(const model::Observation& seen, const model::JobState& state,
                     const json::object& previous, Time now);

// What was remembered; of a job that Volcano itself has looked after so far, what its
// status says: a finished one stays finished, an aborted one aborted.
model::JobState recall(const model::JobSpec& job, const json::object& object);

// Pending, with what is wrong as reason and message; a finished job's status stays.
json::object project_invalid(const json::object& object, const std::vector<Problem>& problems, Time now);

// As the status shows it: restarts done, and the one that was refused.
int retry_count(const model::JobState& state);

}  // namespace trainyard::dialect::vc
