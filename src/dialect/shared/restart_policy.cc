#include "dialect/shared/restart_policy.h"

namespace trainyard::dialect {

std::string_view to_string(RestartPolicy policy) {
  switch (policy) {
    case RestartPolicy::kNever:
      return "Never";
    case RestartPolicy::kOnFailure:
      return "OnFailure";
    case RestartPolicy::kAlways:
      return "Always";
    case RestartPolicy::kExitCode:
      return "ExitCode";
  }
  return "";
}

RestartPolicy restart_policy_named(std::string_view word) {
  for (RestartPolicy policy : {RestartPolicy::kOnFailure, RestartPolicy::kAlways, RestartPolicy::kExitCode}) {
    if (word == to_string(policy)) return policy;
  }
  return RestartPolicy::kNever;
}

}  // namespace trainyard::dialect
