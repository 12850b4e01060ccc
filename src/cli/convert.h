// The command `convert`: the jobs of the input in another dialect, as YAML; objects of
// other kinds are written as they are. What is written is valid there: it is checked.
#pragma once

#include "cli/commands.h"
#include "cli/console.h"

namespace trainyard::cli {

// The exit status.
int convert(const Convert& command, const Console& console);

}  // namespace trainyard::cli
