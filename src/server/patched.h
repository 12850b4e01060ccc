// What patches make of objects, held to the schema of the kind as the bodies of other writes are:
// the operations of a patch have no schema of their own, so what counts is the object that comes
// of them. Thread-safe.
//
// A value of another type than its field's refuses the patch, a field that the kind does not have
// is dropped, null is what it is in a body (nulls.h). One that lets an object grow beyond
// kObjectBytesMax is refused: a body has its limit, and many patches together would have none. The hub does
// this with the object that is there when the patch is carried out, so no two writers can slip something past
// it.
#pragma once

#include <string>
#include <vector>

#include "hub/hub.h"
#include "kube/request.h"
#include "server/registry.h"

namespace trainyard::server {

// As text, about; more than a body may have, for what servers and controllers add.
inline constexpr size_t kObjectBytesMax = 4 << 20;

// Whether an error is that refusal: a server answers 413.
bool is_object_too_large(const Error& error);

// From here on, for every kind that is served without a CRD.
void shape_patches(hub::Hub& hub, const Registry& registry);
// The same for the kind of a CRD, with its schema as it then is.
void shape_patches(hub::Hub& hub, const Registry& registry, const kube::Resource& resource);

// `unknown field "spec.foo"`, of what the patch makes of an object: told to whoever sends it. None
// when the patch fails, or leaves something that is refused anyway.
std::vector<std::string> unknown_after(const ApiResource& resource, const json::object& before,
                                       const kube::Patch& patch);

}  // namespace trainyard::server
