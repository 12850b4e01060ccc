// Structural schemas, as CustomResourceDefinitions have them: how to find one's way in them.
// Pure.
#pragma once

#include <string_view>

#include "kube/json.h"

namespace trainyard::kube {

inline constexpr std::string_view kListType = "x-kubernetes-list-type";
inline constexpr std::string_view kListMapKeys = "x-kubernetes-list-map-keys";
inline constexpr std::string_view kMapType = "x-kubernetes-map-type";
inline constexpr std::string_view kIntOrString = "x-kubernetes-int-or-string";

// Whether a schema says that of itself ("nullable", kIntOrString).
bool is_set(const json::object& schema, std::string_view flag);

// The schema of a member that is named, of one that is named or any, of the elements; null
// where nothing is described.
const json::object* schema_of_property(const json::object& schema, std::string_view name);
const json::object* schema_of_member(const json::object& schema, std::string_view name);
const json::object* schema_of_items(const json::object& schema);

}  // namespace trainyard::kube
