// Observe: from the job and what the caches show to the Observation that the engine
// plans on. Pure, but for what `memory` remembers. Only objects whose controller is this very job
// (by uid) are in it.
#pragma once

#include "control/key.h"
#include "control/seen.h"
#include "control/view.h"
#include "dialect/shared/dialect.h"
#include "model/observation.h"

namespace trainyard::control {

model::Observation observe(const View& view, const JobKey& key, const dialect::Dialect& dialect,
                           const json::object& job, model::JobSpec&& spec, model::JobState&& state,
                           Seen& memory);
// With everything read anew.
model::Observation observe(const View& view, const JobKey& key, const dialect::Dialect& dialect,
                           const json::object& job, model::JobSpec spec, model::JobState state);

// Whether a job is being deleted while what it made is to stay.
bool is_orphaning(const json::object& job);

// A companion's digest as its annotation carries it, and back; 0 when there is none.
std::string format_digest(uint64_t digest);
uint64_t parse_digest(std::string_view text);

}  // namespace trainyard::control
