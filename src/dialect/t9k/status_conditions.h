// The conditions of a TensorFlowTrainingJob: which there are, what they say, in which
// order they stand. Pure. See project.h for what they mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "dialect/shared/problem.h"
#include "kube/json.h"
#include "model/observation.h"

namespace trainyard::t9k {

struct WantedCondition {
  std::string_view type;
  bool status = false;
  std::string reason;
  std::string message;
};

// Whether a job that has run before waits for pods: it is not Pending, which is for one
// that was just created.
bool starts_again(const model::JobState& state, const json::object& previous);

// In the order in which they are written.
std::vector<WantedCondition> wanted_conditions(const model::Observation& seen, const model::JobState& state,
                                               const json::object& previous);

// The conditions as wanted, with the times of `previous` where nothing flipped; types that
// are not ours follow as they were.
json::array merge_conditions(const json::object& previous, const std::vector<WantedCondition>& wanted,
                             Time now);

// The stored conditions with Failed True, InvalidSpec.
json::array with_invalid_spec(const json::object& status, const std::vector<dialect::Problem>& problems,
                              Time now);

}  // namespace trainyard::t9k
