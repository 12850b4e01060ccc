// Habits: words that people bring from kubectl, docker and batch systems and that mean nothing here, with
// what does here what they want. Pure.
#pragma once

#include <string_view>

namespace trainyard::cli {

// What to do instead of `trainyard WORD`; "" where nothing comes near.
std::string_view habit_of_command(std::string_view word);
// Instead of an option, as typed ("-f", "--all"), of a command that does not have it.
std::string_view habit_of_option(std::string_view command, std::string_view option);

}  // namespace trainyard::cli
