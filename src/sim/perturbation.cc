#include "sim/perturbation.h"

namespace trainyard::sim {

std::string_view to_string(Blow blow) {
  switch (blow) {
    case Blow::kNone:
      return "nothing";
    case Blow::kCrashBefore:
      return "crash before";
    case Blow::kCrashAfter:
      return "crash after";
    case Blow::kConflict:
      return "conflict instead of";
    case Blow::kServerError:
      return "server error instead of";
    case Blow::kLost:
      return "lost request of";
    case Blow::kLostApplied:
      return "lost answer of";
  }
  return "";
}

std::string_view to_string(Struck who) {
  switch (who) {
    case Struck::kOperator:
      return "operator";
    case Struck::kScheduler:
      return "scheduler";
  }
  return "";
}

bool can_conflict(const kube::Request& request) {
  return !std::holds_alternative<kube::Create>(request.verb) &&
         !std::holds_alternative<kube::Delete>(request.verb);
}

std::optional<Error> strike_before(Blow blow, const kube::Request& request) {
  switch (blow) {
    case Blow::kNone:
    case Blow::kCrashAfter:
    case Blow::kLostApplied:
      return std::nullopt;
    case Blow::kCrashBefore:
      throw Died{};
    case Blow::kConflict:
      if (!can_conflict(request)) return std::nullopt;
      return Error{ErrorKind::kConflict, "simulated: conflict"};
    case Blow::kServerError:
      return Error{ErrorKind::kUnavailable, "simulated: server error"};
    case Blow::kLost:
      return Error{ErrorKind::kUnknown, "simulated: no answer"};
  }
  return std::nullopt;
}

std::optional<Error> strike_after(Blow blow) {
  if (blow == Blow::kCrashAfter) throw Died{};
  if (blow == Blow::kLostApplied) return Error{ErrorKind::kUnknown, "simulated: no answer"};
  return std::nullopt;
}

}  // namespace trainyard::sim
