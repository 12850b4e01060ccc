#include "server/misfits.h"

#include <fmt/format.h>

#include <limits>

#include "kube/access.h"
#include "server/field_path.h"

namespace trainyard::server {
namespace {

constexpr int kDepthMax = 200;

// One step of the way down from the document; the way is written out only for a misfit.
struct FieldStep {
  enum class Kind { kMember, kKeyOfMap, kIndex };
  const FieldStep* above = nullptr;
  Kind kind = Kind::kMember;
  std::string_view name;
  size_t index = 0;
};

std::string path_of(const FieldStep* step) {
  if (step == nullptr) return "";
  std::string above = path_of(step->above);
  if (step->kind == FieldStep::Kind::kIndex) return fmt::format("{}[{}]", above, step->index);
  return path_below(above, step->name);
}

std::string members_of(const FieldStep* step) {
  if (step == nullptr) return "";
  std::string above = members_of(step->above);
  return step->kind == FieldStep::Kind::kMember ? path_below(above, step->name) : above;
}

bool is_whole(ScalarType type) {
  return type == ScalarType::kInt32 || type == ScalarType::kInt64 || type == ScalarType::kIntOrString;
}

bool fits_whole(const json::value& value, ScalarType type) {
  const bool wide = type == ScalarType::kInt64;
  const int64_t low = wide ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int32_t>::min();
  const int64_t high = wide ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int32_t>::max();
  if (value.is_int64()) return value.get_int64() >= low && value.get_int64() <= high;
  return value.is_uint64() && value.get_uint64() <= static_cast<uint64_t>(high);
}

// Of what is neither a message nor raw.
bool fits_scalar(const json::value& value, ScalarType type) {
  switch (type) {
    case ScalarType::kString:
    case ScalarType::kBytes:
    case ScalarType::kTime:
    case ScalarType::kMicroTime:
    case ScalarType::kDuration:
      return value.is_string();
    case ScalarType::kInt32:
    case ScalarType::kInt64:
      return fits_whole(value, type);
    case ScalarType::kBool:
      return value.is_bool();
    case ScalarType::kDouble:
      return value.is_number();
    case ScalarType::kQuantity:
      return value.is_string() || value.is_number();
    case ScalarType::kIntOrString:
      return value.is_string() || fits_whole(value, type);
    case ScalarType::kStringList:
      return value.is_array();
    case ScalarType::kRaw:
    case ScalarType::kMessage:
      return true;
  }
  return true;
}

// "v1.PodSpec", as Go calls the type of that package.
std::string go_name(const SchemaType& type) {
  size_t dot = type.package.rfind('.');
  return fmt::format("{}.{}", type.package.substr(dot == type.package.npos ? 0 : dot + 1), type.name);
}

std::string go_scalar(const SchemaField& field) {
  switch (field.scalar) {
    case ScalarType::kInt32:
    case ScalarType::kIntOrString:
      return "int32";
    case ScalarType::kInt64:
      return "int64";
    case ScalarType::kBool:
      return "bool";
    case ScalarType::kDouble:
      return "float64";
    case ScalarType::kBytes:
      return "[]uint8";
    case ScalarType::kStringList:
      return "[]string";
    case ScalarType::kQuantity:
      return "resource.Quantity";
    case ScalarType::kMessage:
      return go_name(*field.message);
    case ScalarType::kString:
    case ScalarType::kTime:
    case ScalarType::kMicroTime:
    case ScalarType::kDuration:
    case ScalarType::kRaw:
      break;
  }
  return "string";
}

std::string_view openapi_scalar(ScalarType type) {
  switch (type) {
    case ScalarType::kInt32:
    case ScalarType::kInt64:
      return "integer";
    case ScalarType::kIntOrString:
    case ScalarType::kQuantity:
      return "integer,string";
    case ScalarType::kBool:
      return "boolean";
    case ScalarType::kDouble:
      return "number";
    case ScalarType::kStringList:
      return "array";
    case ScalarType::kMessage:
      return "object";
    case ScalarType::kString:
    case ScalarType::kBytes:
    case ScalarType::kTime:
    case ScalarType::kMicroTime:
    case ScalarType::kDuration:
    case ScalarType::kRaw:
      break;
  }
  return "string";
}

class Walk {
 public:
  std::vector<Misfit> take() { return std::move(found_); }

  void members(const json::object& object, const SchemaType& type, const FieldStep* at, int depth) {
    if (depth > kDepthMax) return;
    for (const json::key_value_pair& member : object) {
      std::string_view key = kube::view(member.key());
      if (type.is_kind() && (key == "apiVersion" || key == "kind")) continue;
      const SchemaField* field = type.field(key);
      const FieldStep step{at, FieldStep::Kind::kMember, key};
      if (field != nullptr) {
        whole_field(member.value(), {type, *field}, step, depth);
      } else if (!type.open && unknown_++ < kMisfitsMax) {
        found_.push_back({.path = path_of(&step), .owner = &type, .value = &member.value()});
      }
    }
  }

 private:
  struct Place {
    const SchemaType& owner;
    const SchemaField& field;
  };

  void whole_field(const json::value& value, Place place, const FieldStep& at, int depth) {
    if (value.is_null()) return;
    switch (place.field.many) {
      case Many::kOne:
        return one(value, place, at, depth);
      case Many::kList:
        if (!value.is_array()) return note(value, place, at, "[]" + go_scalar(place.field), "array");
        for (size_t i = 0; i < value.get_array().size(); ++i) {
          one(value.get_array()[i], place, FieldStep{&at, FieldStep::Kind::kIndex, "", i}, depth);
        }
        return;
      case Many::kMap:
        if (!value.is_object())
          return note(value, place, at, "map[string]" + go_scalar(place.field), "object");
        for (const json::key_value_pair& each : value.get_object()) {
          std::string_view key = kube::view(each.key());
          if (key.starts_with('$')) continue;  // an order to whoever merges a patch
          one(each.value(), place, FieldStep{&at, FieldStep::Kind::kKeyOfMap, key}, depth);
        }
    }
  }

  void one(const json::value& value, Place place, const FieldStep& at, int depth) {
    const SchemaField& field = place.field;
    if (value.is_null() || field.scalar == ScalarType::kRaw) return;
    const bool is_message = field.scalar == ScalarType::kMessage;
    if (is_message && value.is_object()) return members(value.get_object(), *field.message, &at, depth + 1);
    if (is_message || !fits_scalar(value, field.scalar)) {
      return note(value, place, at, go_scalar(field), openapi_scalar(field.scalar));
    }
    if (field.scalar != ScalarType::kStringList) return;
    for (size_t i = 0; i < value.get_array().size(); ++i) {
      const json::value& each = value.get_array()[i];
      if (each.is_string() || each.is_null()) continue;
      note(each, place, FieldStep{&at, FieldStep::Kind::kIndex, "", i}, "string", "string");
    }
  }

  void note(const json::value& value, Place place, const FieldStep& at, std::string wanted,
            std::string_view plainly) {
    if (mistyped_++ >= kMisfitsMax) return;
    found_.push_back({.path = path_of(&at),
                      .owner = &place.owner,
                      .field = &place.field,
                      .value = &value,
                      .members = members_of(&at),
                      .wanted = std::move(wanted),
                      .wanted_plainly = plainly});
  }

  std::vector<Misfit> found_;
  // Counted apart: no crowd of the one hides the other.
  size_t unknown_ = 0;
  size_t mistyped_ = 0;
};

}  // namespace

std::vector<Misfit> misfits(const SchemaType& type, const json::object& document) {
  Walk walk;
  walk.members(document, type, nullptr, 0);
  return walk.take();
}

std::string found_in_go(const Misfit& misfit) {
  const json::value& value = *misfit.value;
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  if (value.is_array()) return "array";
  if (value.is_object()) return "object";
  if (misfit.wanted_plainly == "array" || misfit.wanted_plainly == "object") return "number";
  if (!is_whole(misfit.field->scalar)) return "number";
  if (!value.is_double()) return fmt::format("number {}", json::serialize(value));
  std::string digits = fmt::format("{}", value.get_double());
  const bool looks_whole = digits.find_first_not_of("-0123456789") == digits.npos;
  return fmt::format("number {}{}", digits, looks_whole ? ".0" : "");
}

}  // namespace trainyard::server
