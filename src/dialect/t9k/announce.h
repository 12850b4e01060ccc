// announce: the events of a TensorFlowTrainingJob, in T9k's words where they are known.
// Pure. What repeats a condition or concerns only us is not announced.
#pragma once

#include <optional>

#include "dialect/shared/dialect.h"

namespace trainyard::t9k {

std::optional<dialect::EventText> announce(const model::JobSpec& spec, const model::Note& note);

}  // namespace trainyard::t9k
