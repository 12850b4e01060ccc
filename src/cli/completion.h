// The command `completion`: a script that teaches a shell our commands and options. Pure.
#pragma once

#include <string>
#include <string_view>

namespace trainyard::cli {

// REQUIRES: shell is bash, zsh or fish.
std::string completion_script(std::string_view shell);

}  // namespace trainyard::cli
