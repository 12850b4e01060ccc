// What a person should hear about a TFJob that is valid and yet may not do what they think. Pure.
#pragma once

#include <vector>

#include "dialect/tfjob/spec.h"

namespace trainyard::dialect::tf {

// `scheduler` is the gang scheduler, "" for none.
std::vector<model::Advice> advice_for(const TfJob& job, std::string_view scheduler);

}  // namespace trainyard::dialect::tf
