// Tokens of lists in pages, as far as others may know them. Pure.
#pragma once

#include <string>
#include <string_view>

namespace trainyard::store {

// The token with which a list whose own one has become too old goes on: the rest is shown as
// it is when it is asked for. "" for what is no token.
std::string renewed_token(std::string_view token);

}  // namespace trainyard::store
