// What metadata may say of others: the finalizers that hold an object and the owners it
// depends on, by the rules and in the words of a Kubernetes API server. Pure.
#pragma once

#include "kube/json.h"
#include "kube/meta.h"
#include "store/errors.h"

namespace trainyard::store {

// What is wrong with metadata.finalizers and metadata.ownerReferences. Of an update only what
// it changes is looked at: what was let in under other rules can still be written and go.
// REQUIRES: object has metadata.
Causes check_references(const json::object& object, const json::object* before,
                        const kube::Resource& resource);

}  // namespace trainyard::store
