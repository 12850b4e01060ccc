// Resizing of pods (pods/resize): what such a write takes from its body, and what it may ask for,
// as Kubernetes 1.33 decides it. Pure.
//
// CPU and memory of containers and sidecars may change, in requests and limits; what is there may
// not go, the pod's quality of service stays, and a memory limit sinks only where the container's
// resizePolicy has it started again for that.
#pragma once

#include <string>
#include <string_view>

#include "kube/json.h"
#include "store/errors.h"

namespace trainyard::store {

// `before` with the resources and resize policies of the containers of `body`. Containers that
// are not the same ones, or in another order, are taken over as they come: admit_resize refuses them.
json::object with_resources(const json::object& before, json::object body);

// Completes the pod and answers with what is wrong.
Causes admit_resize(json::object& pod, const json::object& before);

// A container's resizePolicy, in a pod of that restart policy.
void check_resize_policy(const json::object& container, const std::string& path,
                         std::string_view restart_policy, Causes& causes);

}  // namespace trainyard::store
