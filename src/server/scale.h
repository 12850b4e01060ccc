// Scale: the one number of a job or custom resource that `kubectl scale` reads and writes,
// as an autoscaling/v1 Scale. For jobs it is the number of workers. Pure.
#pragma once

#include "base/result.h"
#include "kube/json.h"
#include "server/registry.h"

namespace trainyard::server {

// The Scale of an object. kInvalid when it has nothing to scale.
Result<json::object> scale_of(const ApiResource& resource, const json::object& object);

// The merge patch that brings the object to what the Scale says; the Scale's
// resourceVersion, when it has one, is a precondition of the patch. kInvalid when
// spec.replicas is negative or no number, or the object has nothing to scale.
Result<json::object> patch_of_scale(const ApiResource& resource, const json::object& object,
                                    const json::object& scale);

}  // namespace trainyard::server
