#include "kube/access.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace trainyard::kube {
namespace {

// Beyond this an object has a table of its keys; below, whoever looks compares them one by one.
constexpr size_t kSmall = 16;

template <typename Word>
bool is_word_same(const char* a, const char* b) {
  Word left, right;
  std::memcpy(&left, a, sizeof(Word));
  std::memcpy(&right, b, sizeof(Word));
  return left == right;
}

// Whether both begin with the same `size` characters. Keys are short: two words, which may overlap,
// are all of most of them, and cost less than a call. REQUIRES: size > 0.
bool is_same_key(const char* a, const char* b, size_t size) {
  if (size > 16) return is_word_same<uint64_t>(a, b) && std::memcmp(a + 8, b + 8, size - 8) == 0;
  if (size >= 8) return is_word_same<uint64_t>(a, b) && is_word_same<uint64_t>(a + size - 8, b + size - 8);
  if (size >= 4) return is_word_same<uint32_t>(a, b) && is_word_same<uint32_t>(a + size - 4, b + size - 4);
  return a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1];
}

// A member by its key.
const json::value* member_of(const json::object& object, std::string_view key) {
  if (object.size() > kSmall || key.empty()) return object.if_contains(jview(key));
  for (const json::key_value_pair& member : object) {
    const json::string_view name = member.key();
    if (name.size() == key.size() && is_same_key(name.data(), key.data(), key.size())) return &member.value();
  }
  return nullptr;
}

}  // namespace

const json::value* find(const json::object& from, std::initializer_list<std::string_view> path) {
  const json::object* at = &from;
  const json::value* found = nullptr;
  for (std::string_view key : path) {
    if (at == nullptr) return nullptr;
    found = member_of(*at, key);
    if (found == nullptr) return nullptr;
    at = found->if_object();
  }
  return found;
}

const json::value* find(const json::value& from, std::initializer_list<std::string_view> path) {
  const json::object* object = from.if_object();
  return object ? find(*object, path) : nullptr;
}

const json::object* object_at(const json::object& from, std::initializer_list<std::string_view> path) {
  const json::value* found = find(from, path);
  return found ? found->if_object() : nullptr;
}

const json::array* array_at(const json::object& from, std::initializer_list<std::string_view> path) {
  const json::value* found = find(from, path);
  return found ? found->if_array() : nullptr;
}

const json::array& or_empty(const json::array* list) {
  static const json::array kEmpty;
  return list == nullptr ? kEmpty : *list;
}

std::string_view text_at(const json::object& from, std::initializer_list<std::string_view> path) {
  const json::value* found = find(from, path);
  if (found == nullptr || !found->is_string()) return {};
  return view(found->get_string());
}

std::optional<int64_t> as_whole(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  if (value.is_uint64()) {
    uint64_t n = value.get_uint64();
    if (n > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(n);
  }
  if (value.is_double()) {
    double n = value.get_double();
    if (std::trunc(n) != n || std::fabs(n) > 9007199254740992.0) return std::nullopt;
    return static_cast<int64_t>(n);
  }
  return std::nullopt;
}

std::optional<int64_t> int_at(const json::object& from, std::initializer_list<std::string_view> path) {
  const json::value* found = find(from, path);
  return found ? as_whole(*found) : std::nullopt;
}

std::optional<bool> bool_at(const json::object& from, std::initializer_list<std::string_view> path) {
  const json::value* found = find(from, path);
  if (found == nullptr || !found->is_bool()) return std::nullopt;
  return found->get_bool();
}

json::object& ensure_object(json::object& in, std::initializer_list<std::string_view> path) {
  json::object* at = &in;
  for (std::string_view key : path) {
    json::value& member = (*at)[jview(key)];
    if (!member.is_object()) member.emplace_object();
    at = &member.get_object();
  }
  return *at;
}

json::array& ensure_array(json::object& in, std::initializer_list<std::string_view> path) {
  json::object* at = &in;
  json::value* member = nullptr;
  for (std::string_view key : path) {
    if (member != nullptr) {
      if (!member->is_object()) member->emplace_object();
      at = &member->get_object();
    }
    member = &(*at)[jview(key)];
  }
  if (!member->is_array()) member->emplace_array();
  return member->get_array();
}

std::string shown(std::string_view text) {
  constexpr size_t kShownMax = 100;
  return text.size() <= kShownMax ? std::string(text) : std::string(text.substr(0, kShownMax)) + "...";
}

}  // namespace trainyard::kube
