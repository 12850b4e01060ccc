// Pods: makes the ones that are missing, where nothing holds them back.
#pragma once

#include "engine/pass.h"

namespace trainyard::engine {

// REQUIRES: old pods are already ordered to go.
void make_missing_pods(Pass& pass);

}  // namespace trainyard::engine
