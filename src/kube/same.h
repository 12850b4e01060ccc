// same: whether two documents are equal, as operator== of Boost.JSON tells it. Pure.
// Boost 1.81 copies every member of an object to compare it, which made comparing the
// dearest thing an unchanged world does; this copies nothing.
#pragma once

#include "kube/json.h"

namespace trainyard::kube {

bool same(const json::value& a, const json::value& b);
bool same(const json::object& a, const json::object& b);

}  // namespace trainyard::kube
