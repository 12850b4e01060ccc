// What the embedded plane accepts as a job: a document that its dialect can lower, and an
// update that leaves alone what may not change. Pure.
#pragma once

#include "dialect/shared/dialect.h"
#include "store/store.h"

namespace trainyard::cli {

// REQUIRES: `dialect` outlives it.
store::Admission job_admission(const dialect::Dialect& dialect, const dialect::Settings& settings);

// The job as it is stored: of the version that the dialect writes, in a namespace.
json::object as_stored(const dialect::Dialect& dialect, json::object job);

}  // namespace trainyard::cli
