#include "cli/whole_number.h"

#include <fmt/format.h>

#include <charconv>

namespace trainyard::cli {

CLI::Validator whole_number(uint64_t least) {
  auto fault = [least](const std::string& text) -> std::string {
    uint64_t number = 0;
    auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed == std::errc() && end == text.data() + text.size() && number >= least) return "";
    return fmt::format("must be a whole number from {} on, not '{}'", least, text);
  };
  return CLI::Validator(fault, least == 0 ? "NONNEGATIVE" : "POSITIVE");
}

}  // namespace trainyard::cli
