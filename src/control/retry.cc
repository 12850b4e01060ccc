#include "control/retry.h"

namespace trainyard::control {

Retry retry_for(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
      return Retry::kNever;
    case ErrorKind::kConflict:
    case ErrorKind::kNotFound:
    case ErrorKind::kGone:
      return Retry::kNow;
    case ErrorKind::kUnavailable:
    case ErrorKind::kUnknown:
      return Retry::kBackOff;
    case ErrorKind::kForbidden:
    case ErrorKind::kAlreadyExists:
      return Retry::kTell;
  }
  return Retry::kBackOff;
}

}  // namespace trainyard::control
