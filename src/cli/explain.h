// The command `explain`: what a job means, what would be created for it and, when it
// carries a status, what would be done next and why.
#pragma once

#include "base/time.h"
#include "cli/commands.h"
#include "cli/console.h"

namespace trainyard::cli {

// The exit status. `now` stands for the time when the command does not say one.
int explain(const Explain& command, const Console& console, Time now);

}  // namespace trainyard::cli
