// `trainyard up`, `down` and `status`: the embedded plane as a service of this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/data_dir.h"

namespace trainyard::cli {

int up(const Up& command, const Console& console);
int down(const Down& command, const Console& console);
int plane_status(const PlaneStatus& command, const Console& console);

// What a plane that is not up has left running, in a line; "" for nothing.
std::string orphans_in_words(const DataDir& dir);
// The same of runs that were killed, a line for each: nobody takes their replicas over unasked. `runs`
// holds the folders of runs.
std::vector<std::string> killed_runs_in_words(const std::filesystem::path& runs);

}  // namespace trainyard::cli
