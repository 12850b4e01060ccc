// Decoding a TFJob manifest: every version and placement of its fields, defaults, and
// every problem with its path. Pure.
#pragma once

#include <vector>

#include "dialect/shared/dialect.h"
#include "dialect/tfjob/spec.h"

namespace trainyard::dialect::tf {

// What is decoded is whole only when `problems` is still empty afterwards.
TfJob decode_tfjob(const json::object& object, const Settings& settings, std::vector<Problem>& problems);

// The manifest as v1 would have it after defaulting: role keys in their proper spelling,
// policy fields under runPolicy, replicas, restart policies and ports written out.
// Everything else is as it was.
json::object normal_form(const json::object& object, TfJob&& job);

// Where the pod template of a role is in a normal form.
const json::object* template_in(const json::object& normal, std::string_view role_title);

}  // namespace trainyard::dialect::tf
