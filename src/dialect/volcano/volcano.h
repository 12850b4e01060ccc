// The dialect of Volcano's own jobs: batch.volcano.sh/v1alpha1 Job. Pure.
// Start reading here, then lower.h (what a manifest means), render.h (what it becomes)
// and project.h (what its status says).
#pragma once

#include "dialect/shared/dialect.h"

namespace trainyard::dialect {

const Dialect& volcano();

}  // namespace trainyard::dialect
