// What is kept of an object that was seen: the fields that somebody here reads, and nothing
// else. A pod as a server tells it is some six kilobytes, most of it of no use. Pure.
#pragma once

#include <span>

#include "client/client.h"
#include "client/skim.h"

namespace trainyard::client {

// What kube::decode_pod reads, and what names the pod and its owner.
Object keep_pod(const Object& pod);
// Who it is and whose: for objects of which nothing else is looked at.
Object keep_identity(const Object& object);
// The same of texts, before they are read: at least what is kept of an object.
std::span<const Wanted> wanted_of_pod();
std::span<const Wanted> wanted_of_identity();
// Everything but the server's record of who set which field.
Object keep_all_but_managers(const Object& object);

}  // namespace trainyard::client
