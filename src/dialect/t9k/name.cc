#include "dialect/t9k/name.h"

#include <fmt/format.h>

#include "base/hash.h"

namespace trainyard::t9k {

std::string name_suffix(std::string_view name, std::string_view uid) {
  return fmt::format("{:016x}", fnv1a(uid, fnv1a(name))).substr(0, 5);
}

std::string child_prefix(std::string_view name, std::string_view uid) {
  return fmt::format("{}-{}", name, name_suffix(name, uid));
}

}  // namespace trainyard::t9k
