// What makes namespaces more than objects. The rules are on only where a store is told so.
// Pure.
#pragma once

#include <string_view>

#include "kube/json.h"

namespace trainyard::store {

// Those that a plane cannot be without.
bool is_immortal_namespace(std::string_view name);

// Completes a namespace that is to be created: it is active, and its content holds it.
void prepare_namespace(json::object& body);

}  // namespace trainyard::store
