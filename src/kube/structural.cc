#include "kube/structural.h"

#include "kube/access.h"

namespace trainyard::kube {

bool is_set(const json::object& schema, std::string_view flag) {
  return bool_at(schema, {flag}).value_or(false);
}

const json::object* schema_of_property(const json::object& schema, std::string_view name) {
  return object_at(schema, {"properties", name});
}

const json::object* schema_of_member(const json::object& schema, std::string_view name) {
  const json::object* own = schema_of_property(schema, name);
  return own != nullptr ? own : object_at(schema, {"additionalProperties"});
}

const json::object* schema_of_items(const json::object& schema) { return object_at(schema, {"items"}); }

}  // namespace trainyard::kube
