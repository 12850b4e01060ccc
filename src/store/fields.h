// Which fields of a kind can be selected by, as an API server has it, and how they read.
// Pure.
#pragma once

#include <optional>

#include "base/result.h"
#include "kube/meta.h"
#include "kube/selector.h"

namespace trainyard::store {

// kInvalid: "field label not supported: x".
std::optional<Error> check_field_labels(const kube::Resource& resource, const kube::FieldSelector& fields);

bool matches_fields(const kube::Resource& resource, const kube::FieldSelector& fields,
                    const json::object& object);

}  // namespace trainyard::store
