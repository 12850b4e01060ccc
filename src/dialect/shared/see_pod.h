// From the pod as the API shows it to the pod as the engine sees it. Pure.
#pragma once

#include <string_view>

#include "kube/pod.h"
#include "model/observation.h"

namespace trainyard::dialect {

// `main_container` is the one whose exit code counts, "" for the pod's first. A pod that
// has ended without that container's code (evicted before it ran) has no exit code.
model::PodSeen see_pod(const kube::Pod& pod, model::ReplicaId id, std::string_view main_container);

}  // namespace trainyard::dialect
