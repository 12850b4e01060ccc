// The command `install`: prints what a cluster is to be given, for kubectl apply. It talks to nobody.
#pragma once

#include "cli/console.h"
#include "cli/install_command.h"

namespace trainyard::cli {

int install(const Install& command, const Console& console);

}  // namespace trainyard::cli
