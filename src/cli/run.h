// Carries out a command. The edge of the program: it reads the clock.
#pragma once

#include "cli/commands.h"
#include "cli/console.h"

namespace trainyard::cli {

// The exit status of the process.
int run(const Command& command, const Console& console);

}  // namespace trainyard::cli
