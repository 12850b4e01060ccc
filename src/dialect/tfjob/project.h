// The status of a TFJob, written from what is known and read back. Pure.
#pragma once

#include "dialect/shared/dialect.h"

namespace trainyard::dialect::tf {

// Fields of the previous status that are not ours to write are kept.
json::object project_tfjob(const model::Observation& seen, const model::JobState& state,
                           const json::object& previous, Time now);

// What the status remembers. A status that another operator wrote remembers at least
// whether the job has ended, so that a finished job is never run again.
model::JobState recall_tfjob(const model::JobSpec& spec, const json::object& object);

}  // namespace trainyard::dialect::tf
