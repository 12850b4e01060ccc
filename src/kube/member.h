// A member of a JSON object by its key, for the functions that every write and every pass
// calls many times. Inline, so that a key known when compiling costs one comparison of words. Pure.
#pragma once

#include <cstring>
#include <string_view>

#include "kube/json.h"

namespace trainyard::kube {

// Beyond this an object has a table of its keys; below, whoever looks compares them one by one.
inline constexpr size_t kSmallObject = 16;

template <typename Word>
inline bool is_word_same(const char* a, const char* b) {
  Word left, right;
  std::memcpy(&left, a, sizeof(Word));
  std::memcpy(&right, b, sizeof(Word));
  return left == right;
}

// Whether both begin with the same `size` characters. Keys are short: two words, which may overlap,
// are all of most of them, and cost less than a call. REQUIRES: size > 0.
[[gnu::always_inline]] inline bool is_same_key(const char* a, const char* b, size_t size) {
  if (size > 16) return is_word_same<uint64_t>(a, b) && std::memcmp(a + 8, b + 8, size - 8) == 0;
  if (size >= 8) return is_word_same<uint64_t>(a, b) && is_word_same<uint64_t>(a + size - 8, b + size - 8);
  if (size >= 4) return is_word_same<uint32_t>(a, b) && is_word_same<uint32_t>(a + size - 4, b + size - 4);
  return a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1];
}

// Null when it is not there.
[[gnu::always_inline]] inline const json::value* member_of(const json::object& object, std::string_view key) {
  if (object.size() > kSmallObject || key.empty()) return object.if_contains({key.data(), key.size()});
  for (const json::key_value_pair& member : object) {
    const json::string_view name = member.key();
    if (name.size() == key.size() && is_same_key(name.data(), key.data(), key.size())) return &member.value();
  }
  return nullptr;
}

[[gnu::always_inline]] inline json::value* member_of(json::object& object, std::string_view key) {
  return const_cast<json::value*>(member_of(static_cast<const json::object&>(object), key));
}

}  // namespace trainyard::kube
