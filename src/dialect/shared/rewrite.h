// The first step of writing a status over the one before: what stays is copied, what is about to be
// written anew is not. Pure.
#pragma once

#include <initializer_list>
#include <string_view>

#include "kube/json.h"

namespace trainyard::dialect {

// `previous` with null in place of these members, each where it stands; those that it lacks stay absent.
json::object copy_but(const json::object& previous, std::initializer_list<std::string_view> rewritten);

}  // namespace trainyard::dialect
