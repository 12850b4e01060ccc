// What an API server demands of a volume of a pod: one source, names of what its files come from, paths
// that stay inside, modes that are some, no file twice. Pure; for whoever takes pods or templates of pods.
//
// Not looked at: the divisor of a resource, clusterTrustBundle, and sources that only clusters have,
// besides that there is one.
#pragma once

#include "kube/part_fault.h"

namespace trainyard::kube {

PartFaults volume_faults(const json::object& volume);
// Whether the volume says where its files are; one that does not is an empty directory.
bool has_source(const json::object& volume);

}  // namespace trainyard::kube
