// skim: the parts of a JSON text that are wanted, found without reading the rest of it. For texts as servers
// of Kubernetes write them, without white space between their parts; of any other the answer is "not found",
// and whoever asks reads all of it. What is stepped over is not checked. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kube/json_text.h"

namespace trainyard::client {

// Whether a text may turn out not to be an object after the last thing that is wanted of it.
enum class Rest { kMatters, kIsFine };

// The texts of an object's members of these names, "" for those that it does not have.
// nullopt: this is no object, or not all of one.
template <size_t kCount>
std::optional<std::array<std::string_view, kCount>> skim(std::string_view text,
                                                         const std::array<std::string_view, kCount>& names,
                                                         Rest rest = Rest::kMatters) {
  std::array<std::string_view, kCount> found;
  size_t left = kCount;
  if (!text.starts_with('{')) return std::nullopt;
  int depth = 0;
  std::string_view* member = nullptr;  // of `found`, the one whose value we are in
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      size_t end = kube::end_of_string(text, at);
      if (end == std::string_view::npos) return std::nullopt;
      if (depth == 1 && text.substr(end).starts_with(':')) {
        auto name = std::find(names.begin(), names.end(), text.substr(at + 1, end - at - 2));
        member = name == names.end() ? nullptr : &found[static_cast<size_t>(name - names.begin())];
        begin = end + 1;
      }
      at = end;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    bool ends_member = (depth == 1 && c == ',') || depth == 0;
    if (ends_member && member != nullptr) {
      *std::exchange(member, nullptr) = text.substr(begin, at - begin);
      --left;
    }
    if (depth == 0 || (left == 0 && rest == Rest::kIsFine)) return found;
    ++at;
  }
  return std::nullopt;
}

// Calls `item` with the text of each object of the list's `items`, in their order. The answer is the list
// without them; nullopt when it is not written as expected, and what `item` was told counts for nothing.
std::optional<std::string> skim_list(std::string_view text,
                                     const std::function<void(std::string_view item)>& item);

// The text without metadata.managedFields of the object at the path: a third of a pod, which only servers
// read. As it is when there is no such thing.
std::string_view without_managers(std::string_view text, std::span<const std::string_view> path,
                                  std::string& room);

// A member that is wanted, and of its value (an object, or each object of a list) these members alone; none
// named: all of it.
struct Wanted {
  std::string_view name;
  std::span<const Wanted> parts = {};
};

// The text of an object with these members alone, in their order. As it is when it is not written as
// expected.
std::string_view with_only(std::string_view text, std::span<const Wanted> wanted, std::string& room);

}  // namespace trainyard::client
