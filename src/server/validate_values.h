// Whether the values of an object are those that the structural schema of its CRD describes:
// types, required fields, enums, bounds, patterns, and lists that are sets or maps. Pure.
//
// Not checked: formats, and x-kubernetes-validations (CEL). A pattern that we cannot read
// refuses nothing.
#pragma once

#include <string>
#include <string_view>

#include "kube/json.h"
#include "store/errors.h"

namespace trainyard::server {

inline constexpr size_t kValueProblemsMax = 100;

// Everything that is wrong, in the words of the real server, in the order of the document.
// What is the same in `before` (null for a creation) is let be: a schema may have become
// stricter since. Copies neither of them: `object` is a value because that is what schemas are about.
store::Causes value_problems(const json::object& schema, const json::value& object,
                             const json::object* before);

// That a value is of another type than the one wanted ("integer"), in the same words.
Cause wrong_type(const json::value& value, const std::string& path, std::string_view wanted);

}  // namespace trainyard::server
