// The command `validate`: every problem of every job in the input, each with its line,
// its field, what was found and what is allowed.
#pragma once

#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/manifest.h"
#include "dialect/shared/problem.h"

namespace trainyard::cli {

// The exit status.
int validate(const Validate& command, const Console& console);

// More of one job than anybody reads: the others are counted.
inline constexpr size_t kProblemsPrintedMax = 1'000;

// The problems of one job as lines: "file.yaml:9: spec.x: Invalid value: -1: must be ...".
std::vector<std::string> located(const Object& object, const std::vector<dialect::Problem>& problems);

// Prints complaints and the problems of jobs; answers whether there were none.
bool report_complaints(const Manifests& manifests, const Console& console);

}  // namespace trainyard::cli
