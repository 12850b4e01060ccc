// From a Volcano Job to the engine's JobSpec. Pure; see job_spec.h for what each part
// means. What is Volcano's own:
//
//  - success: minSuccess as soon as it is met; else, when all have ended, minAvailable
//    successes, and of each task its own minimum unless the job's is below their sum;
//  - budget: maxRetry N is the first run and N-1 restarts. A resume and a disruption are
//    not charged (Volcano charges both, and three pauses then fail a job);
//  - containers that the kubelet restarts in place are not charged either; they are what
//    TaskFailed looks at, at the task's maxRetry;
//  - the gang is always there and ours, whichever scheduler the pods name;
//  - a gang whose minimum counts pods that wait for others (dependsOn) could never
//    start: the gang asks for no more than can exist before the first wait is over.
#pragma once

#include "dialect/shared/dialect.h"
#include "kube/json.h"

namespace trainyard::dialect::vc {

LowerResult lower(const json::object& object, const Settings& settings);

}  // namespace trainyard::dialect::vc
