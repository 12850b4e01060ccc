// The paths of printer columns and scale subresources: ".spec.replicas", ".a['b.c']",
// ".status.conditions[-1:].type", ".conditions[?(@.type==\"Ready\")].status", ".list[*].name".
// Pure; a path that cannot be read finds nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"

namespace trainyard::server {

// All that the path leads to, in order.
std::vector<const json::value*> find_path(const json::value& from, std::string_view path);
std::vector<const json::value*> find_path(const json::object& from, std::string_view path);

// The keys of a path that has nothing but keys (".spec.replicas"); empty for any other.
std::vector<std::string> keys_of_path(std::string_view path);

}  // namespace trainyard::server
