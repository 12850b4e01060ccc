// The paths by which fields of documents are told to people: "spec.containers[0].name". Pure.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace trainyard::server {

// A member of what is at `path`; "" is the document itself.
inline std::string path_below(std::string_view path, std::string_view member) {
  return path.empty() ? std::string(member) : fmt::format("{}.{}", path, member);
}

// Where a walk through a document is: made on the way down, put into words only for somebody
// who is told. Null is the document itself.
struct FieldPath {
  const FieldPath* above = nullptr;
  std::string_view member;  // of what is above; without data for an item of a list
  size_t index = 0;
};

inline std::string in_words(const FieldPath* path) {
  if (path == nullptr) return "";
  std::string above = in_words(path->above);
  return path->member.data() == nullptr ? fmt::format("{}[{}]", above, path->index)
                                        : path_below(above, path->member);
}

}  // namespace trainyard::server
