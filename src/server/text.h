// Small questions about the text of HTTP headers. Pure.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/ascii.h"

namespace trainyard::server {

inline bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// "a, b" as {"a", "b"}; empty parts are left out.
inline std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    std::string_view part = trimmed(text.substr(0, comma));
    if (!part.empty()) parts.push_back(part);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

}  // namespace trainyard::server
