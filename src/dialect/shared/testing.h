// What the tests of this room share.
#pragma once

#include <string_view>

#include "kube/access.h"

namespace trainyard::dialect {

inline json::object parsed(std::string_view text) { return json::parse(kube::jview(text)).as_object(); }

}  // namespace trainyard::dialect
