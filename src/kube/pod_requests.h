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

// As a scheduler counts it: while a pod is being resized, the most of what its spec asks for, what
// the node has set aside and what the container has; of a resize that its node can never carry out,
// only what it has.
Requests requests_of(const json::object& pod);
// As the spec has it, whatever became of it.
Requests requests_of_spec(const json::object& pod);
// Whether the two may differ: the status of a container tells of other requests than its spec.
bool is_resizing(const json::object& pod);

// Guaranteed, Burstable or BestEffort.
std::string_view qos_class_of(const json::object& pod);

}  // namespace trainyard::kube
