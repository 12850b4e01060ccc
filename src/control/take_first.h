// take_first: the first of a line, taken out of it. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <vector>

namespace trainyard::control {

// As many as there are, at most `count`.
template <typename T>
std::vector<T> take_first(std::deque<T>& from, size_t count) {
  auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(count, from.size()));
  std::vector<T> out(std::make_move_iterator(from.begin()), std::make_move_iterator(end));
  from.erase(from.begin(), end);
  return out;
}

}  // namespace trainyard::control
