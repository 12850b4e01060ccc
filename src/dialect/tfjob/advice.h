// What a person should hear about a TFJob that is valid and yet may not do what they think. Pure.
#pragma once

#include <optional>
#include <vector>

#include "dialect/tfjob/spec.h"

namespace trainyard::dialect::tf {

// `scheduler` is the gang scheduler, "" for none; `gang` what it is asked for.
std::vector<model::Advice> advice_for(const TfJob& job, std::string_view scheduler,
                                      const std::optional<model::Gang>& gang);

}  // namespace trainyard::dialect::tf
