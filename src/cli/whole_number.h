// What an option that takes a number from 0, or from 1, on takes. Pure.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace trainyard::cli {

// "must be a whole number from 0 on, not 'x'". CLI::Range does not do for unsigned numbers: to it -1
// is the largest of them.
// REQUIRES: least is 0 or 1.
CLI::Validator whole_number(uint64_t least = 0);

}  // namespace trainyard::cli
