// The command line, read. Pure: argv in, a Command out; nothing is printed and nothing
// exits here. Everything that the user got wrong comes back as Misused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"

namespace trainyard::cli {

// `arguments` without the program's name.
Command read_command_line(const std::vector<std::string>& arguments);

// The names of the commands, in the order in which help shows them.
const std::vector<std::string_view>& command_names();

}  // namespace trainyard::cli
