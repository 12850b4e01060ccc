#include "cli/dialects.h"

#include <array>

#include "base/check.h"
#include "dialect/t9k/t9k.h"
#include "dialect/tfjob/tfjob.h"
#include "dialect/volcano/volcano.h"

namespace trainyard::cli {

std::span<const dialect::Dialect> all_dialects() {
  static const std::array<dialect::Dialect, 3> kDialects{dialect::tfjob(), dialect::t9k(),
                                                         dialect::volcano()};
  return kDialects;
}

const dialect::Dialect& dialect_named(std::string_view name) {
  for (const dialect::Dialect& dialect : all_dialects()) {
    if (dialect.name == name) return dialect;
  }
  CHECK(false && "unknown dialect");
  return all_dialects().front();
}

}  // namespace trainyard::cli
