// What becomes of null in a document: what the real server makes of it before it stores anything.
// Pure.
//
// A kind of Kubernetes is read into Go types there: a field that is null is one that is not there
// (but for times that are no pointers, which are written as null), an element of a list or a value
// of a map that is null is an empty one. Of a kind with a CRD, and of our job kinds, which have one
// elsewhere: a member that is null, may not be (`nullable`) and has no default is dropped.
#pragma once

#include "kube/json.h"
#include "server/registry.h"

namespace trainyard::server {

// Does nothing for a kind without a schema.
void drop_nulls(const ApiResource& resource, json::object& body);

}  // namespace trainyard::server
