// The job that a document describes, for every command that takes manifests: what its dialect
// makes of it, once every field has its place in the schema of its kind and fits there. What
// the API server would refuse or drop is told here, with its line. Pure.
#pragma once

#include "cli/manifest.h"
#include "dialect/shared/dialect.h"

namespace trainyard::cli {

// A job's spec, or everything that is wrong: what the dialect finds first, then fields that
// there are not and values of another type. The status is let be: it is the system's.
// REQUIRES: object.dialect is not null.
dialect::LowerResult lower_document(const Object& object, const dialect::Settings& settings);

}  // namespace trainyard::cli
