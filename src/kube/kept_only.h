// What an embedded plane keeps of an object and does not act on, in words for who makes it; nothing of
// most. The objects are kept because kubectl and others ask for them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"

namespace trainyard::kube {

std::vector<std::string> kept_only(std::string_view group, std::string_view kind, const json::object& object);

}  // namespace trainyard::kube
