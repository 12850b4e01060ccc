// The dialects, in an array: the one place that names all three.
#pragma once

#include <span>
#include <string_view>

#include "dialect/shared/dialect.h"

namespace trainyard::cli {

// Lives as long as the process.
std::span<const dialect::Dialect> all_dialects();

// REQUIRES: name is tfjob, t9k or volcano.
const dialect::Dialect& dialect_named(std::string_view name);

}  // namespace trainyard::cli
