// The events of a Volcano Job, in Volcano's own words where it has some. Pure.
#pragma once

#include <optional>

#include "dialect/shared/dialect.h"
#include "model/job_spec.h"
#include "model/plan.h"

namespace trainyard::dialect::vc {

std::optional<EventText> announce(const model::JobSpec& job, const model::Note& note);

}  // namespace trainyard::dialect::vc
