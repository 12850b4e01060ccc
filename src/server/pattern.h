// The patterns of schemas: regular expressions that are looked for anywhere in a text, `^` and
// `$` standing for its ends. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace trainyard::server {

// Nullopt when the pattern cannot be read, or would take too long on this text.
std::optional<bool> has_pattern(std::string_view text, std::string_view pattern);

}  // namespace trainyard::server
