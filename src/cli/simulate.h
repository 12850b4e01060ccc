// The command `sim`: runs seeds of the simulator, tells the story of one, or reports the
// first that fails, shrunk to the least that still does.
#pragma once

#include "cli/commands.h"
#include "cli/console.h"

namespace trainyard::cli {

// The exit status; 1 when a seed failed.
int simulate(const Simulate& command, const Console& console);

}  // namespace trainyard::cli
