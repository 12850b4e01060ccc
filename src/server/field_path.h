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

}  // namespace trainyard::server
