#include "dialect/shared/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"
#include "kube/member.h"

namespace trainyard::dialect {
namespace {

std::string_view type_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
  }
  return "another value";
}

const json::object kNothing;

constexpr size_t kShownMax = 80;

// JSON with numbers as people write them: 2.11, where json says 2.11E0. Ends soon after what is shown.
void append_shown(const json::value& value, std::string& text) {
  if (value.is_double()) {
    text += fmt::format("{}", value.get_double());
  } else if (const json::array* list = value.if_array()) {
    text += '[';
    for (size_t i = 0; i < list->size() && text.size() <= kShownMax; ++i) {
      if (i > 0) text += ',';
      append_shown((*list)[i], text);
    }
    text += ']';
  } else if (const json::object* object = value.if_object()) {
    text += '{';
    for (const json::key_value_pair& member : *object) {
      if (text.size() > kShownMax) break;
      if (text.back() != '{') text += ',';
      text += json::serialize(json::value(member.key())) + ':';
      append_shown(member.value(), text);
    }
    text += '}';
  } else {
    text += json::serialize(value);
  }
}

}  // namespace

std::string shown(const json::value& value) {
  std::string text;
  append_shown(value, text);
  if (text.size() <= kShownMax) return text;
  size_t cut = kShownMax;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not inside a character
  return text.substr(0, cut) + "...";
}

Reader Reader::root(const json::object& object, std::vector<Problem>& problems) {
  return {&object, "", problems};
}

Reader::Reader(const json::object* object, std::string path, std::vector<Problem>& problems)
    : object_(object), path_(std::move(path)), problems_(&problems) {}

const json::object& Reader::object() const { return object_ ? *object_ : kNothing; }

std::string Reader::path_of(std::string_view key) const {
  std::string path;
  path.reserve(path_.size() + 1 + key.size());
  if (!path_.empty()) path.append(path_).append(1, '.');
  return path.append(key);
}

const json::value* Reader::raw(std::string_view key) const {
  const json::value* found = kube::member_of(object(), key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

bool Reader::has(std::string_view key) const { return raw(key) != nullptr; }

void Reader::report(ProblemKind kind, std::string message) const {
  problems_->push_back({path_, kind, "", std::move(message)});
}

void Reader::report(std::string_view key, ProblemKind kind, std::string message) const {
  const json::value* found = raw(key);
  bool show = found != nullptr && kind != ProblemKind::kRequired && kind != ProblemKind::kForbidden;
  problems_->push_back({path_of(key), kind, show ? shown(*found) : "", std::move(message)});
}

Reader Reader::child(std::string_view key) const {
  const json::value* found = raw(key);
  const json::object* object = found ? found->if_object() : nullptr;
  if (found != nullptr && object == nullptr) {
    report(key, ProblemKind::kType, fmt::format("must be an object, not {}", type_name(*found)));
  }
  return {object, path_of(key), *problems_};
}

const json::array* Reader::array(std::string_view key) const {
  const json::value* found = raw(key);
  const json::array* list = found ? found->if_array() : nullptr;
  if (found != nullptr && list == nullptr) {
    report(key, ProblemKind::kType, fmt::format("must be an array, not {}", type_name(*found)));
  }
  return list;
}

std::vector<Reader> Reader::children(std::string_view key) const {
  std::vector<Reader> all;
  const json::array* list = array(key);
  if (list == nullptr) return all;
  for (size_t i = 0; i < list->size(); ++i) {
    std::string path = fmt::format("{}[{}]", path_of(key), i);
    const json::object* object = (*list)[i].if_object();
    if (object == nullptr) {
      problems_->push_back({path, ProblemKind::kType, shown((*list)[i]),
                            fmt::format("must be an object, not {}", type_name((*list)[i]))});
    }
    all.emplace_back(object, std::move(path), *problems_);
  }
  return all;
}

std::optional<std::string> Reader::text(std::string_view key) const {
  const json::value* found = raw(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_string()) {
    report(key, ProblemKind::kType, fmt::format("must be a string, not {}", type_name(*found)));
    return std::nullopt;
  }
  return std::string(kube::view(found->get_string()));
}

std::optional<std::string> Reader::one_of(std::string_view key,
                                          std::initializer_list<std::string_view> allowed) const {
  std::optional<std::string> found = text(key);
  if (!found) return std::nullopt;
  if (std::find(allowed.begin(), allowed.end(), *found) != allowed.end()) return found;
  std::string list;
  for (std::string_view word : allowed) {
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", word);
  }
  report(key, ProblemKind::kUnsupported, fmt::format("supported values: {}", list));
  return std::nullopt;
}

std::optional<int64_t> Reader::whole(std::string_view key, int64_t low, int64_t high) const {
  const json::value* found = raw(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_number()) {
    report(key, ProblemKind::kType, fmt::format("must be a whole number, not {}", type_name(*found)));
    return std::nullopt;
  }
  std::optional<int64_t> n = kube::as_whole(*found);
  // Beyond this a number has no places after its point: it is whole, and more than anything may be.
  constexpr double kPlacesEnd = 9007199254740992.0;
  const double about = found->is_double() ? found->get_double() : kPlacesEnd;
  if (!n && about > -kPlacesEnd && about < kPlacesEnd) {
    report(key, ProblemKind::kInvalid, "must be a whole number");
    return std::nullopt;
  }
  if (n ? *n < low : about < 0) {
    report(key, ProblemKind::kInvalid, fmt::format("must be greater than or equal to {}", low));
    return std::nullopt;
  }
  if (!n || *n > high) {
    report(key, ProblemKind::kInvalid, fmt::format("must be less than or equal to {}", high));
    return std::nullopt;
  }
  return n;
}

std::optional<bool> Reader::boolean(std::string_view key) const {
  const json::value* found = raw(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_bool()) {
    report(key, ProblemKind::kType, fmt::format("must be true or false, not {}", type_name(*found)));
    return std::nullopt;
  }
  return found->get_bool();
}

std::optional<std::vector<std::string>> Reader::texts(std::string_view key) const {
  const json::array* list = array(key);
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> all;
  for (size_t i = 0; i < list->size(); ++i) {
    const json::value& entry = (*list)[i];
    if (!entry.is_string()) {
      problems_->push_back({fmt::format("{}[{}]", path_of(key), i), ProblemKind::kType, shown(entry),
                            fmt::format("must be a string, not {}", type_name(entry))});
      continue;
    }
    all.emplace_back(kube::view(entry.get_string()));
  }
  return all;
}

}  // namespace trainyard::dialect
