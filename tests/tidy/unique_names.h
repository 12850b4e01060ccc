// Files of a room may be compiled as one, and so may its tests: a name that two of them
// give to different things is then a mistake that the compiler finds, and only where the
// two happen to meet. Here it is found wherever they are. A rough reading: what stands at
// the beginning of a line of formatted code. Pure.
#pragma once

#include <vector>

#include "rules.h"

namespace trainyard::tidy {

// Of two equal names the later is told, in the order of `files`.
void check_unique_names(const std::vector<SourceFile>& files, std::vector<Finding>& findings);

}  // namespace trainyard::tidy
