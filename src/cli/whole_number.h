// What an option that takes a number from 0 on takes. Pure.
#pragma once

#include <CLI/CLI.hpp>

namespace trainyard::cli {

// "must be a whole number from 0 on, not 'x'".
CLI::Validator whole_number();

}  // namespace trainyard::cli
