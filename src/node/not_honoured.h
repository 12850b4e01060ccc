// What a pod asks for that this node gives in neither runtime, in words for the user; told before anything
// starts. What one runtime alone cannot give is its own to say: see cannot_honour() in runtime.h. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/json.h"

namespace trainyard::node {

std::vector<std::string> not_honoured(const json::object& pod);

}  // namespace trainyard::node
