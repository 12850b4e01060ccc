#include "kube/same.h"

#include <algorithm>

#include "kube/access.h"
#include "kube/member.h"

namespace trainyard::kube {

bool same(const json::object& a, const json::object& b) {
  if (a.size() != b.size()) return false;
  auto other = b.begin();
  for (const json::key_value_pair& member : a) {
    // Two states of one document mostly have their keys in the same order.
    const json::string_view key = member.key();
    const bool in_step = other->key().size() == key.size() &&
                         (key.empty() || is_same_key(other->key().data(), key.data(), key.size()));
    const json::value* found = in_step ? &other->value() : b.if_contains(key);
    if (found == nullptr || !same(member.value(), *found)) return false;
    ++other;
  }
  return true;
}

bool same(const json::value& a, const json::value& b) {
  // Most of what documents are made of.
  if (a.is_string() && b.is_string()) return view(a.get_string()) == view(b.get_string());
  if (a.is_object() && b.is_object()) return same(a.get_object(), b.get_object());
  if (a.is_array() && b.is_array()) {
    const json::array& left = a.get_array();
    const json::array& right = b.get_array();
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](const json::value& one, const json::value& other) { return same(one, other); });
  }
  return a == b;
}

}  // namespace trainyard::kube
