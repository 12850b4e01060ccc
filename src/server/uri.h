// Uri: the target of a request, taken apart. Pure.
//
// Strict: what could mean one thing here and another somewhere else is refused, not mended:
// empty, "." and ".." segments, bad escapes, an escaped slash, control characters, bytes
// that are not UTF-8. One slash at the end of a path is allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace trainyard::server {

// The query of a URL, decoded, in order.
class Query {
 public:
  void add(std::string name, std::string value) { all_.emplace_back(std::move(name), std::move(value)); }
  bool has(std::string_view name) const;
  // The first of that name; "" when there is none.
  std::string_view get(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;

  // "true", "1", "false", "0" and so on; false when absent. kInvalid for anything else.
  Result<bool> flag(std::string_view name) const;
  // kInvalid when it is there and no whole number.
  Result<std::optional<int64_t>> number(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

struct Uri {
  std::vector<std::string> segments;  // of the path, decoded
  Query query;
};

inline constexpr size_t kTargetBytesMax = 32 * 1024;

// kInvalid says what is wrong.
Result<Uri> parse_target(std::string_view target);

// nullopt when an escape is broken.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);

}  // namespace trainyard::server
