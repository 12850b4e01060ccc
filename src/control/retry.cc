#include "control/retry.h"

namespace trainyard::control {

Retry retry_for(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kConflict:
    case ErrorKind::kNotFound:
    case ErrorKind::kGone:
      return Retry::kNow;
    case ErrorKind::kUnavailable:
    case ErrorKind::kUnknown:
      return Retry::kBackOff;
    case ErrorKind::kInvalid:  // by rules of the server's that may change: a webhook, a limit
    case ErrorKind::kForbidden:
    case ErrorKind::kAlreadyExists:
      return Retry::kTell;
  }
  return Retry::kBackOff;
}

}  // namespace trainyard::control
