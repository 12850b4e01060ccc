// A type of server/schema.h as the structural schema that a CustomResourceDefinition takes. Pure.
//
// Types are written out in place: a structural schema has no references. Pod templates are
// open objects, in which only what a job cannot do without is described: written out in
// full they would be 150 KB for each version of each kind.
#pragma once

#include "kube/json.h"
#include "server/schema.h"

namespace trainyard::deploy {

// REQUIRES: the type is a kind and does not contain itself.
json::object structural_schema(const server::SchemaType& kind);

}  // namespace trainyard::deploy
