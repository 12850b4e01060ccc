// Reading JSON documents without surprises: every function takes whatever is there
// and answers null, a fallback or nullopt when it is not of the wanted type. For
// decoding with errors that name the field, see dialect/shared/reader.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/json.h"

namespace trainyard::kube {

// The value at a path of keys: find(pod, {"metadata", "name"}); null when absent.
const json::value* find(const json::value& from, std::initializer_list<std::string_view> path);
const json::value* find(const json::object& from, std::initializer_list<std::string_view> path);

// The member as an object or array, null when absent or of another type.
const json::object* object_at(const json::object& from, std::initializer_list<std::string_view> path);
const json::array* array_at(const json::object& from, std::initializer_list<std::string_view> path);

// The list to be looked through: an empty one for null. Copies nothing, unlike
// `list != nullptr ? *list : json::array()`.
const json::array& or_empty(const json::array* list);

// The member as text; "" when absent or not a string. The view lives as long as `from`.
std::string_view text_at(const json::object& from, std::initializer_list<std::string_view> path);
std::optional<int64_t> int_at(const json::object& from, std::initializer_list<std::string_view> path);
std::optional<bool> bool_at(const json::object& from, std::initializer_list<std::string_view> path);

// The object at a path, made (with everything above it) when it is not there.
json::object& ensure_object(json::object& in, std::initializer_list<std::string_view> path);
// Same for an array.
json::array& ensure_array(json::object& in, std::initializer_list<std::string_view> path);

// As much of a text as a message repeats: the characters within its first 100 bytes, then "...".
std::string shown(std::string_view text);

inline std::string_view view(const json::string& s) { return {s.data(), s.size()}; }
inline std::string_view view(json::string_view s) { return {s.data(), s.size()}; }  // of a key
inline json::string_view jview(std::string_view s) { return {s.data(), s.size()}; }

// A whole number however it was written: 3, 3.0 or the unsigned form; nullopt for 3.5, text, too large.
std::optional<int64_t> as_whole(const json::value& value);

}  // namespace trainyard::kube
