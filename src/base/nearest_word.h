// The nearest of a few known words, for "did you mean". Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// The known word with the fewest changed, added, dropped or swapped letters, if it is
// near enough to be a slip of the fingers; else "". Of equally near ones the first.
std::string nearest_word(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace trainyard
