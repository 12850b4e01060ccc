// bind: a pod gets its node, as `POST bindings` does it, in one step of the store. Pure as the
// store is.
#pragma once

#include "store/store.h"

namespace trainyard::store {

// `binding`: see kube::binding. Answers the pod with its node; the node says PodScheduled in its
// first status.
// kConflict when it has a node already, is being deleted, waits behind gates, or has another uid
// than the binding names.
Result<Object> bind(Store& store, std::string_view ns, const json::object& binding, Time now);

}  // namespace trainyard::store
