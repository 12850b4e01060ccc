// `trainyard up`, `down` and `status`: the embedded plane as a service of this machine.
#pragma once

#include "cli/commands.h"
#include "cli/console.h"

namespace trainyard::cli {

int up(const Up& command, const Console& console);
int down(const Down& command, const Console& console);
int plane_status(const PlaneStatus& command, const Console& console);

}  // namespace trainyard::cli
