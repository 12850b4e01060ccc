// Events have two faces: v1 and events.k8s.io/v1. They are stored as v1; these turn one
// into the other. Pure; what only one of them has is kept under its name there.
#pragma once

#include "kube/json.h"

namespace trainyard::server {

// Both take a whole object and leave what they do not know alone.
json::object to_new_event(const json::object& core_event);
json::object to_core_event(const json::object& new_event);

}  // namespace trainyard::server
