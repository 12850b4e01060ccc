// What a TFJob's restart policies say, as rules for the engine. Pure.
#pragma once

#include "dialect/tfjob/spec.h"
#include "model/job_spec.h"

namespace trainyard::dialect::tf {

// Sets the role's rules, `otherwise` and how its pods restart in place.
//
// Never: any failure, its own or not, fails the job. OnFailure and Always: the kubelet
// restarts containers in place; a pod that failed or was lost is made again. ExitCode: 42
// and 129..255 but for 139 are retried, every other code is permanent; a pod that was lost
// is made again. Where a restart takes more than the pod along, so does a pod that somebody
// deletes, and the kubelet must not restart it alone: then pods are made anew under every policy.
void set_restart_rules(const TfReplicas& replicas, model::Scope scope, bool tolerates_failures,
                       model::Role& role);

// The restartPolicy that pods of this role carry.
std::string_view pod_restart_policy(RestartPolicy policy, bool in_place);

}  // namespace trainyard::dialect::tf
