#include "kube/access.h"

#include <cmath>
#include <limits>

#include "kube/member.h"
#include "kube/utf8.h"

namespace trainyard::kube {

namespace {

// Inline in each of the functions below, which are asked hundreds of thousands of times in a hundred worlds.
[[gnu::always_inline]] inline const json::value* walk(const json::object& from,
                                                      std::initializer_list<std::string_view> path) {
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

}  // namespace

const json::value* find(const json::object& from, std::initializer_list<std::string_view> path) {
  return walk(from, path);
}

const json::value* find(const json::value& from, std::initializer_list<std::string_view> path) {
  const json::object* object = from.if_object();
  return object ? find(*object, path) : nullptr;
}

const json::object* object_at(const json::object& from, std::initializer_list<std::string_view> path) {
  const json::value* found = walk(from, path);
  return found ? found->if_object() : nullptr;
}

const json::array* array_at(const json::object& from, std::initializer_list<std::string_view> path) {
  const json::value* found = walk(from, path);
  return found ? found->if_array() : nullptr;
}

const json::array& or_empty(const json::array* list) {
  static const json::array kEmpty;
  return list == nullptr ? kEmpty : *list;
}

std::string_view text_at(const json::object& from, std::initializer_list<std::string_view> path) {
  const json::value* found = walk(from, path);
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
  const json::value* found = walk(from, path);
  return found ? as_whole(*found) : std::nullopt;
}

std::optional<bool> bool_at(const json::object& from, std::initializer_list<std::string_view> path) {
  const json::value* found = walk(from, path);
  if (found == nullptr || !found->is_bool()) return std::nullopt;
  return found->get_bool();
}

namespace {

// The member, made (as null) when it is not there.
json::value& ensure_member(json::object& in, std::string_view key) {
  json::value* there = member_of(in, key);
  return there != nullptr ? *there : in[jview(key)];
}

}  // namespace

json::object& ensure_object(json::object& in, std::initializer_list<std::string_view> path) {
  json::object* at = &in;
  for (std::string_view key : path) {
    json::value& member = ensure_member(*at, key);
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
    member = &ensure_member(*at, key);
  }
  if (!member->is_array()) member->emplace_array();
  return member->get_array();
}

std::string shown(std::string_view text) {
  constexpr size_t kShownMax = 100;
  return beginning_of(text, kShownMax);
}

}  // namespace trainyard::kube
