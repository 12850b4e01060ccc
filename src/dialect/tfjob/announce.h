// The events of a TFJob. Pure.
#pragma once

#include "dialect/shared/dialect.h"

namespace trainyard::dialect::tf {

std::optional<EventText> announce_tfjob(const model::JobSpec& spec, const model::Note& note);

}  // namespace trainyard::dialect::tf
