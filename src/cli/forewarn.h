// What a user should know before a job starts on this machine: what the runtime will not
// honour, and images that are not here. Each thing is said once, however many replicas it
// concerns.
#pragma once

#include <string>
#include <vector>

#include "cli/manifest.h"
#include "cli/plane.h"

namespace trainyard::cli {

// The sentences, in the order of the jobs. Images are brought first when that was asked for;
// the Error is that of a pull. REQUIRES: the jobs are valid.
Result<std::vector<std::string>> forewarnings(Plane& plane, const std::vector<Object>& documents,
                                              const PlaneSettings& settings);

// The first pod of each role: the others differ in nothing that matters before the start.
std::vector<json::object> sample_pods(const Object& document, const PlaneSettings& settings);

}  // namespace trainyard::cli
