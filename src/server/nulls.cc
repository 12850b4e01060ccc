#include "server/nulls.h"

#include "kube/access.h"
#include "kube/structural.h"
#include "server/schema.h"

namespace trainyard::server {
namespace {

constexpr int kNullDepthMax = 200;

void drop_structural(json::value& value, const json::object& schema, int depth) {
  if (depth > kNullDepthMax) return;
  if (json::array* list = value.if_array()) {
    const json::object* items = kube::schema_of_items(schema);
    for (size_t i = 0; items != nullptr && i < list->size(); ++i)
      drop_structural((*list)[i], *items, depth + 1);
    return;
  }
  json::object* object = value.if_object();
  if (object == nullptr) return;
  for (auto it = object->begin(); it != object->end();) {
    const json::object* known = kube::schema_of_member(schema, kube::view(it->key()));
    bool is_nothing = known != nullptr && it->value().is_null() && !kube::is_set(*known, "nullable") &&
                      !known->contains("default");
    if (is_nothing) {
      it = object->stable_erase(it);
      continue;
    }
    if (known != nullptr) drop_structural(it->value(), *known, depth + 1);
    ++it;
  }
}

// A value of that type that says nothing, as Go has it.
json::value empty_of(const SchemaField& field) {
  switch (field.scalar) {
    case ScalarType::kInt32:
    case ScalarType::kInt64:
    case ScalarType::kIntOrString:
      return 0;
    case ScalarType::kDouble:
      return 0.0;
    case ScalarType::kBool:
      return false;
    case ScalarType::kQuantity:
      return "0";
    case ScalarType::kStringList:
      return json::array();
    case ScalarType::kMessage:
      return json::object();
    case ScalarType::kRaw:
      return nullptr;
    case ScalarType::kString:
    case ScalarType::kBytes:
    case ScalarType::kTime:
    case ScalarType::kMicroTime:
    case ScalarType::kDuration:
      break;
  }
  return "";
}

bool is_time(const SchemaField& field) {
  return field.scalar == ScalarType::kTime || field.scalar == ScalarType::kMicroTime;
}

class TypedWalk {
 public:
  explicit TypedWalk(bool in_go) : in_go_(in_go) {}

  void members(json::object& object, const SchemaType& type, int depth) {
    if (depth > kNullDepthMax) return;
    for (auto it = object.begin(); it != object.end();) {
      std::string_view key = kube::view(it->key());
      const bool names_kind = type.is_kind() && (key == "apiVersion" || key == "kind");
      const SchemaField* field = names_kind ? nullptr : type.field(key);
      if (field != nullptr && it->value().is_null() && !stays_null(*field)) {
        it = object.stable_erase(it);
        continue;
      }
      if (field != nullptr) whole(it->value(), *field, depth);
      ++it;
    }
  }

 private:
  bool stays_null(const SchemaField& field) const {
    return field.scalar == ScalarType::kRaw ||
           (in_go_ && is_time(field) && field.many == Many::kOne && !field.present);
  }

  void whole(json::value& value, const SchemaField& field, int depth) {
    switch (field.many) {
      case Many::kOne:
        return one(value, field, depth);
      case Many::kList:
        for (size_t i = 0; value.is_array() && i < value.get_array().size(); ++i) {
          each(value.get_array()[i], field, depth);
        }
        return;
      case Many::kMap:
        if (!value.is_object()) return;
        for (json::key_value_pair& entry : value.get_object()) each(entry.value(), field, depth);
    }
  }

  void each(json::value& value, const SchemaField& field, int depth) {
    if (value.is_null() && in_go_) value = empty_of(field);
    one(value, field, depth);
  }

  void one(json::value& value, const SchemaField& field, int depth) {
    if (field.scalar == ScalarType::kMessage && value.is_object()) {
      members(value.get_object(), *field.message, depth + 1);
    }
  }

  const bool in_go_;
};

}  // namespace

void drop_nulls(const ApiResource& resource, json::object& body) {
  if (resource.from_crd) {
    if (!resource.schema) return;
    json::value whole(std::move(body));
    drop_structural(whole, *resource.schema, 0);
    body = std::move(whole.get_object());
    return;
  }
  const kube::Resource& kind = resource.resource;
  const SchemaType* type = schema_of(kind.group, kind.version, kind.kind);
  if (type != nullptr) TypedWalk(resource.built_in).members(body, *type, 0);
}

}  // namespace trainyard::server
