#include "cli/whole_number.h"

#include <fmt/format.h>

#include <charconv>

namespace trainyard::cli {

CLI::Validator whole_number() {
  auto fault = [](const std::string& text) -> std::string {
    uint64_t number = 0;
    auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed == std::errc() && end == text.data() + text.size()) return "";
    return fmt::format("must be a whole number from 0 on, not '{}'", text);
  };
  return CLI::Validator(fault, "NONNEGATIVE");
}

}  // namespace trainyard::cli
