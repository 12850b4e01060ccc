// RestartPolicy: when a replica is started again, in the four words that TFJobs and
// TensorFlowTrainingJobs share. Pure.
#pragma once

#include <string_view>

namespace trainyard::dialect {

enum class RestartPolicy { kNever, kOnFailure, kAlways, kExitCode };

std::string_view to_string(RestartPolicy policy);
// Never for a word that is none of the four.
RestartPolicy restart_policy_named(std::string_view word);

}  // namespace trainyard::dialect
