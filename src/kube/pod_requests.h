// What a pod asks of the node it runs on, as Kubernetes counts it: its containers together,
// or the dearest moment of its start when that is more, and its overhead. A limit without
// a request is the request. Sidecars (init containers that always restart) count
// throughout. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "kube/json.h"
#include "kube/quantity.h"

namespace trainyard::kube {

// By the resource's name, in the units of to_amount().
using Requests = std::map<std::string, int64_t>;

// The unit a resource is counted in: cpu in thousandths, everything else whole, rounded up.
int64_t to_amount(std::string_view resource, const Quantity& quantity);

Requests requests_of(const json::object& pod);

}  // namespace trainyard::kube
