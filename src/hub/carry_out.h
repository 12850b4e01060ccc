// Carries a request out on a store. Pure.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "hub/hub.h"
#include "kube/request.h"
#include "store/store.h"

namespace trainyard::hub {

// REQUIRES: the verb is no Watch. The bodies of writes are moved out of the request.
Result<Answer> carry_out(store::Store& store, kube::Request& request, Time now);

}  // namespace trainyard::hub
