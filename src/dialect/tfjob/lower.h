// From a TFJob manifest to the job inside. Pure.
#pragma once

#include "dialect/shared/dialect.h"

namespace trainyard::dialect::tf {

LowerResult lower_tfjob(const json::object& object, const Settings& settings);

// The manager of a job and its queue may not change once they are set.
std::vector<Problem> validate_tfjob_update(const json::object& before, const json::object& after);

}  // namespace trainyard::dialect::tf
