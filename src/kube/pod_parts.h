// What an API server demands of a container beyond its types: paths that stay inside, names of
// variables, fields that can be told to it, probes and hooks with one handler. Pure; one list of rules for
// whoever takes pods or templates of pods. Those of volumes: volume_parts.h.
#pragma once

#include "kube/part_fault.h"

namespace trainyard::kube {

// Its variables, mounts, probes and hooks, and what it is begun with.
PartFaults container_faults(const json::object& container);

}  // namespace trainyard::kube
