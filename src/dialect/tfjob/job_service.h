// One headless Service for a whole TFJob, and the host names that then tell its replicas
// apart. Pure.
#pragma once

#include "kube/json.h"
#include "model/job_spec.h"

namespace trainyard::dialect::tf {

// The Service as a companion of the job; it has the job's name.
model::Companion job_service(const model::JobSpec& spec);
json::object render_job_service(const model::JobSpec& spec);

// Gives a pod the host name and subdomain under which <pod>.<job>.<namespace>.svc finds it.
// REQUIRES: the pod's name is set.
void name_host(json::object& pod, const model::JobSpec& spec, model::ReplicaId id);

}  // namespace trainyard::dialect::tf
