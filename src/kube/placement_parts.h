// What an API server demands, beyond types, of the fields that say where a pod goes and what it brings
// along: node selectors, affinity, tolerations, spread constraints, ports of the node, names and aliases of
// hosts, overhead. Pure; one list of rules for whoever takes pods or templates of pods. Those of
// containers: pod_parts.h.
#pragma once

#include "kube/part_fault.h"

namespace trainyard::kube {

// Of a pod's spec. Entries of another type than theirs are left to others.
PartFaults placement_faults(const json::object& spec);

}  // namespace trainyard::kube
