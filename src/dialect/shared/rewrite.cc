#include "dialect/shared/rewrite.h"

#include <algorithm>

#include "kube/access.h"

namespace trainyard::dialect {

json::object copy_but(const json::object& previous, std::initializer_list<std::string_view> rewritten) {
  json::object copy;
  copy.reserve(previous.size() + rewritten.size());
  for (const json::key_value_pair& member : previous) {
    bool goes = std::find(rewritten.begin(), rewritten.end(), kube::view(member.key())) != rewritten.end();
    if (goes) {
      copy.emplace(member.key(), nullptr);
    } else {
      copy.emplace(member.key(), member.value());
    }
  }
  return copy;
}

}  // namespace trainyard::dialect
