#include "server/pattern.h"

#include <boost/regex.hpp>

namespace trainyard::server {

std::optional<bool> has_pattern(std::string_view text, std::string_view pattern) {
  const boost::regex compiled(pattern.data(), pattern.data() + pattern.size(),
                              boost::regex::perl | boost::regex::no_except);
  if (compiled.status() != 0) return std::nullopt;
  try {
    return boost::regex_search(text.data(), text.data() + text.size(), compiled,
                               boost::match_single_line | boost::match_not_dot_newline);
  } catch (const std::runtime_error&) {  // how the library says that it gives up
    return std::nullopt;
  }
}

}  // namespace trainyard::server
