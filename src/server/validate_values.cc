#include "server/validate_values.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "kube/access.h"
#include "kube/same.h"
#include "kube/structural.h"
#include "kube/texts.h"
#include "server/field_path.h"
#include "server/pattern.h"

namespace trainyard::server {
namespace {

using kube::array_at;
using kube::int_at;
using kube::is_set;
using kube::jview;
using kube::kIntOrString;
using kube::kListMapKeys;
using kube::kListType;
using kube::object_at;
using kube::text_at;
using store::Causes;

constexpr int kValueDepthMax = 200;

std::string_view type_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "boolean";
    case json::kind::int64:
    case json::kind::uint64:
      return "integer";
    case json::kind::double_:
      return "number";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "array";
    case json::kind::object:
      return "object";
  }
  return "";
}

bool is_of_type(const json::value& value, std::string_view type) {
  std::string_view own = type_name(value);
  if (own == type) return true;
  if (type == "number") return own == "integer";
  return type == "integer" && own == "number" && kube::as_whole(value).has_value();
}

std::optional<double> bound_at(const json::object& schema, std::string_view name) {
  const json::value* value = schema.if_contains(jview(name));
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

// How many characters a text has: bytes that do not go on with one.
int64_t length_of(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

// What tells the elements of a list apart: the whole value, or its keys. Null when the list's
// elements are not told apart, or this one cannot be.
json::value identity_of(const json::value& element, const json::object& schema) {
  std::string_view list_type = text_at(schema, {kListType});
  if (list_type == "set") return element;
  if (list_type != "map" || !(element.is_object() || element.is_null())) return nullptr;
  json::object keys;
  for (const std::string& key : kube::texts_at(schema, {kListMapKeys})) {
    const json::value* own = element.is_object() ? element.get_object().if_contains(key) : nullptr;
    if (own != nullptr) keys[key] = *own;
  }
  return keys;
}

// What was at a place before the write, if it was a list or an object.
struct Old {
  const json::array* list = nullptr;
  const json::object* object = nullptr;
};

class ValueChecker {
 public:
  Causes take() { return std::move(causes_); }

  // `before` is what was at this place, null when nothing was.
  void check(const json::value& value, const json::object& schema, const json::value* before,
             const std::string& path, int depth) {
    if (before == nullptr) return check_changed(value, schema, {}, path, depth);
    if (kube::same(*before, value)) return;
    check_changed(value, schema, {before->if_array(), before->if_object()}, path, depth);
  }

  // As `check`, of a value that is known to be another than it was.
  void check_changed(const json::value& value, const json::object& schema, const Old& old,
                     const std::string& path, int depth) {
    if (depth > kValueDepthMax || causes_.size() >= kValueProblemsMax) return;
    check_type(value, schema, path);
    check_enum(value, schema, path);
    if (value.is_null()) return;
    check_alternatives(value, schema, path, depth);
    if (value.is_string()) check_text(kube::view(value.get_string()), schema, path);
    if (value.is_number()) check_number(value, schema, path);
    if (value.is_array()) check_list(value.get_array(), schema, old.list, path, depth);
    if (value.is_object()) check_object(value.get_object(), schema, old.object, path, depth);
  }

 private:
  void note(Cause cause) {
    if (causes_.size() < kValueProblemsMax) causes_.push_back(std::move(cause));
  }
  void refuse_value(const json::value& value, const std::string& path, std::string_view why) {
    note(store::invalid_value(path, value, fmt::format("{} in body {}", path, why)));
  }

  void check_type(const json::value& value, const json::object& schema, const std::string& path) {
    std::string_view type = text_at(schema, {"type"});
    bool either = is_set(schema, kIntOrString);
    if ((type.empty() && !either) || (value.is_null() && is_set(schema, "nullable"))) return;
    bool fits = either ? is_of_type(value, "integer") || value.is_string() : is_of_type(value, type);
    if (fits) return;
    note(wrong_type(value, path, either ? "integer,string" : type));
  }

  void check_enum(const json::value& value, const json::object& schema, const std::string& path) {
    const json::array* allowed = array_at(schema, {"enum"});
    if (allowed == nullptr || (value.is_null() && is_set(schema, "nullable"))) return;
    std::vector<std::string> texts;
    for (const json::value& each : *allowed) {
      if (kube::same(each, value)) return;
      texts.emplace_back(each.is_string() ? std::string(kube::view(each.get_string()))
                                          : json::serialize(each));
    }
    std::string own =
        value.is_string() ? std::string(kube::view(value.get_string())) : json::serialize(value);
    note(store::unsupported_value(path, own, {texts.begin(), texts.end()}));
  }

  void check_text(std::string_view text, const json::object& schema, const std::string& path) {
    std::optional<int64_t> length_max = int_at(schema, {"maxLength"});
    std::optional<int64_t> length_min = int_at(schema, {"minLength"});
    if (length_max && length_of(text) > *length_max) {
      note({"FieldValueTooLong", fmt::format("Too long: may not be more than {} bytes", *length_max), path});
    }
    if (length_min && length_of(text) < *length_min) {
      refuse_value(json::value(jview(text)), path,
                   fmt::format("should be at least {} chars long", *length_min));
    }
    std::string_view pattern = text_at(schema, {"pattern"});
    if (!pattern.empty() && !has_pattern(text, pattern).value_or(true)) {
      refuse_value(json::value(jview(text)), path, fmt::format("should match '{}'", pattern));
    }
  }

  void check_number(const json::value& value, const json::object& schema, const std::string& path) {
    const auto number = value.to_number<double>();
    if (std::optional<double> least = bound_at(schema, "minimum")) {
      bool beyond = is_set(schema, "exclusiveMinimum");
      if (number < *least || (beyond && number == *least)) {
        refuse_value(value, path,
                     fmt::format("should be greater than {}{}", beyond ? "" : "or equal to ", *least));
      }
    }
    if (std::optional<double> most = bound_at(schema, "maximum")) {
      bool below = is_set(schema, "exclusiveMaximum");
      if (number > *most || (below && number == *most)) {
        refuse_value(value, path,
                     fmt::format("should be less than {}{}", below ? "" : "or equal to ", *most));
      }
    }
    std::optional<double> factor = bound_at(schema, "multipleOf");
    if (factor && *factor > 0 && std::fmod(number, *factor) != 0) {
      refuse_value(value, path, fmt::format("should be a multiple of {}", *factor));
    }
  }

  // How many items or properties there may be.
  void check_count(size_t count, const json::object& schema, std::string_view what, const json::value& value,
                   const std::string& path) {
    std::optional<int64_t> most = int_at(schema, {what == "items" ? "maxItems" : "maxProperties"});
    std::optional<int64_t> least = int_at(schema, {what == "items" ? "minItems" : "minProperties"});
    auto own = static_cast<int64_t>(count);
    if (most && own > *most) {
      note({"FieldValueTooMany", fmt::format("Too many: {}: must have at most {} items", own, *most), path});
    }
    if (least && own < *least)
      refuse_value(value, path, fmt::format("should have at least {} {}", *least, what));
  }

  void check_list(const json::array& list, const json::object& schema, const json::array* old,
                  const std::string& path, int depth) {
    check_count(list.size(), schema, "items", json::value(list.size()), path);
    const json::object* items = kube::schema_of_items(schema);
    for (size_t i = 0; items != nullptr && i < list.size(); ++i) {
      check(list[i], *items, twin_of(list[i], old, schema), fmt::format("{}[{}]", path, i), depth + 1);
    }
    check_duplicates(list, schema, path);
  }

  // The element of a list of maps that was there with the same keys.
  static const json::value* twin_of(const json::value& element, const json::array* old,
                                    const json::object& schema) {
    if (old == nullptr || text_at(schema, {kListType}) != "map") return nullptr;
    const json::value identity = identity_of(element, schema);
    for (const json::value& each : *old) {
      if (!identity.is_null() && kube::same(identity_of(each, schema), identity)) return &each;
    }
    return nullptr;
  }

  void check_duplicates(const json::array& list, const json::object& schema, const std::string& path) {
    std::string_view list_type = text_at(schema, {kListType});
    if (list_type != "set" && list_type != "map") return;
    std::map<std::string, int> seen;
    for (size_t i = 0; i < list.size(); ++i) {
      std::string place = fmt::format("{}[{}]", path, i);
      if (list_type == "map" && !list[i].is_object() && !list[i].is_null()) {
        note(store::invalid_value(place, list[i], "must be an object for an array of list-type map"));
        return;
      }
      json::value identity = identity_of(list[i], schema);
      if (++seen[json::serialize(identity)] == 2) note(store::duplicate_value(place, identity));
    }
  }

  void check_object(const json::object& object, const json::object& schema, const json::object* old,
                    const std::string& path, int depth) {
    check_count(object.size(), schema, "properties", json::value(object.size()), path);
    for (const json::key_value_pair& member : object) {
      std::string_view key = kube::view(member.key());
      const json::object* known = kube::schema_of_member(schema, key);
      if (known == nullptr) continue;
      check(member.value(), *known, old == nullptr ? nullptr : old->if_contains(member.key()),
            path_below(path, key), depth + 1);
    }
    for (const std::string& name : kube::texts_at(schema, {"required"})) {
      if (!object.contains(name)) note(store::required(path_below(path, name)));
    }
  }

  // How many of the schemas that are listed under a word the value fits.
  int fitting(const json::value& value, const json::array& schemas, const std::string& path, int depth) {
    int count = 0;
    for (const json::value& each : schemas)
      count += each.is_object() && fits(value, each.get_object(), path, depth);
    return count;
  }
  static bool fits(const json::value& value, const json::object& schema, const std::string& path, int depth) {
    ValueChecker alone;
    alone.check(value, schema, nullptr, path, depth + 1);
    return alone.causes_.empty();
  }

  void check_alternatives(const json::value& value, const json::object& schema, const std::string& path,
                          int depth) {
    if (const json::array* all = array_at(schema, {"allOf"})) {
      for (const json::value& each : *all) {
        if (each.is_object()) check(value, each.get_object(), nullptr, path, depth + 1);
      }
    }
    if (const json::array* any = array_at(schema, {"anyOf"}); any && fitting(value, *any, path, depth) == 0) {
      refuse_value(value, path, "must validate at least one schema (anyOf)");
    }
    if (const json::array* one = array_at(schema, {"oneOf"}); one && fitting(value, *one, path, depth) != 1) {
      refuse_value(value, path, "must validate one and only one schema (oneOf)");
    }
    if (const json::object* none = object_at(schema, {"not"}); none && fits(value, *none, path, depth)) {
      refuse_value(value, path, "must not validate the schema (not)");
    }
  }

  Causes causes_;
};

}  // namespace

store::Causes value_problems(const json::object& schema, const json::value& object,
                             const json::object* before) {
  if (before != nullptr && object.is_object() && kube::same(*before, object.get_object())) return {};
  ValueChecker checker;
  checker.check_changed(object, schema, {.object = before}, "", 0);
  return checker.take();
}

Cause wrong_type(const json::value& value, const std::string& path, std::string_view wanted) {
  return {"FieldValueTypeInvalid",
          fmt::format("Invalid value: \"{0}\": {1} in body must be of type {2}: \"{0}\"", type_name(value),
                      path, wanted),
          path};
}

}  // namespace trainyard::server
