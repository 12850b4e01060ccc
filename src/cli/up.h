// `trainyard up`, `down` and `status`: the embedded plane as a service of this machine.
#pragma once

#include <string>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/data_dir.h"

namespace trainyard::cli {

int up(const Up& command, const Console& console);
int down(const Down& command, const Console& console);
int plane_status(const PlaneStatus& command, const Console& console);

// What a plane that is not up has left running, in a line; "" for nothing.
std::string orphans_in_words(const DataDir& dir);

}  // namespace trainyard::cli
