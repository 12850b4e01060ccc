// World: the objects of the input as the operator would see them, so that a job of the
// input is planned for by the very code that plans on a cluster. Pure.
#pragma once

#include <span>
#include <vector>

#include "cli/manifest.h"
#include "control/view.h"
#include "dialect/shared/dialect.h"
#include "model/observation.h"

namespace trainyard::cli {

control::View world_of(std::span<const dialect::Dialect> dialects, const std::vector<Object>& objects);

// REQUIRES: job.dialect is one of `dialects`, and spec was lowered from job.body.
model::Observation observe_in(const control::View& world, std::span<const dialect::Dialect> dialects,
                              const Object& job, const model::JobSpec& spec);

}  // namespace trainyard::cli
