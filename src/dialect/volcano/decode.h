// From the document to the Spec. Types and bounds of every field we read are checked
// here and written down with their paths; how fields fit together is validate's. Pure.
#pragma once

#include <memory>

#include "dialect/shared/reader.h"
#include "dialect/volcano/spec.h"
#include "kube/json.h"
#include "model/job_spec.h"

namespace trainyard::dialect::vc {

// `root` must be a document with defaults (with_defaults). Total: a Spec comes out
// whatever is in it, with the problems in root's list.
Spec decode(const Reader& root);

// The Spec of a job that was lowered before, kept in it. REQUIRES: job came out of lower().
const Spec& spec_of(const model::JobSpec& job);

}  // namespace trainyard::dialect::vc
