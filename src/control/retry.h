// What an error means for the pass that met it: decided here once, by the kind. Pure.
#pragma once

#include "base/result.h"

namespace trainyard::control {

enum class Retry {
  kNow,      // our view was old: as soon as the view has moved on
  kBackOff,  // with a growing pause
  kTell,     // the same, and the user must hear of it
};

Retry retry_for(ErrorKind kind);

}  // namespace trainyard::control
