#include "deploy/crd_schema.h"

#include "base/check.h"
#include "kube/access.h"
#include "server/openapi_schema.h"

namespace trainyard::deploy {
namespace {

using kube::jview;
using server::ScalarType;
using server::SchemaField;
using server::SchemaType;

constexpr int kDepthMax = 32;
constexpr const char* kPreserve = "x-kubernetes-preserve-unknown-fields";
// What the API server takes for an amount, such as 500m, 2 or 1Gi.
constexpr const char* kQuantityPattern =
    R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+)))"
    R"((([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";

json::object schema_of_type(const SchemaType& type, int depth);

json::object described(json::object schema, std::string_view description) {
  json::object out;
  if (!description.empty()) out["description"] = jview(description);
  for (json::key_value_pair& each : schema) out[each.key()] = std::move(each.value());
  return out;
}

json::object open_object() { return {{"type", "object"}, {kPreserve, true}}; }

json::object text_map() {
  return {{"type", "object"}, {"additionalProperties", json::object{{"type", "string"}}}};
}

json::object container_schema() {
  json::object name{{"description", "Name of the container, unique in the pod."},
                    {"type", "string"},
                    {"minLength", 1},
                    {"maxLength", 63}};
  json::object image{{"description", "Image that the container runs."}, {"type", "string"}, {"minLength", 1}};
  return {{"description", "A container, with all fields that Kubernetes gives it."},
          {"type", "object"},
          {"required", {"name", "image"}},
          {"properties", json::object{{"name", std::move(name)}, {"image", std::move(image)}}},
          {kPreserve, true}};
}

json::object pod_template_schema() {
  json::object containers{{"description", "The containers of the pod."},
                          {"type", "array"},
                          {"minItems", 1},
                          {"maxItems", 100},
                          {"items", container_schema()},
                          {"x-kubernetes-list-type", "map"},
                          {"x-kubernetes-list-map-keys", {"name"}}};
  json::object spec{
      {"description", "The pod, with all fields that Kubernetes gives it: kubectl explain pod.spec."},
      {"type", "object"},
      {"required", {"containers"}},
      {"properties", json::object{{"containers", std::move(containers)}}},
      {kPreserve, true}};
  json::object labels = described(text_map(), "Labels of the pod.");
  json::object annotations = described(text_map(), "Annotations of the pod.");
  json::object metadata{
      {"description", "Labels and annotations of the pod."},
      {"type", "object"},
      {"properties", json::object{{"labels", std::move(labels)}, {"annotations", std::move(annotations)}}},
      {kPreserve, true}};
  return {{"type", "object"},
          {"required", {"spec"}},
          {"properties", json::object{{"metadata", std::move(metadata)}, {"spec", std::move(spec)}}}};
}

json::object message_schema(const SchemaType& type, int depth) {
  if (type.name == "PodTemplateSpec") return pod_template_schema();
  if (type.name == "ObjectMeta") return {{"type", "object"}};
  return schema_of_type(type, depth);
}

json::object value_schema(const SchemaField& field, int depth) {
  switch (field.scalar) {
    case ScalarType::kInt32:
    case ScalarType::kInt64:
    case ScalarType::kBool:
    case ScalarType::kDouble:
    case ScalarType::kBytes:
    case ScalarType::kStringList:
    case ScalarType::kString:
    case ScalarType::kDuration:
      return server::plain_schema(field.scalar);
    case ScalarType::kTime:
    case ScalarType::kMicroTime:
      return {{"type", "string"}, {"format", "date-time"}};
    case ScalarType::kQuantity:
      return {{"anyOf", {json::object{{"type", "integer"}}, json::object{{"type", "string"}}}},
              {"pattern", kQuantityPattern},
              {"x-kubernetes-int-or-string", true}};
    case ScalarType::kIntOrString:
      return {{"anyOf", {json::object{{"type", "integer"}}, json::object{{"type", "string"}}}},
              {"x-kubernetes-int-or-string", true}};
    case ScalarType::kRaw:
      return open_object();
    case ScalarType::kMessage:
      return message_schema(*field.message, depth);
  }
  return {};
}

json::object field_schema(const SchemaField& field, int depth) {
  json::object value = value_schema(field, depth);
  switch (field.many) {
    case server::Many::kOne:
      if (field.description.empty()) return value;
      value.erase("description");
      return described(std::move(value), field.description);
    case server::Many::kList:
      return described({{"type", "array"}, {"items", std::move(value)}}, field.description);
    case server::Many::kMap:
      return described({{"type", "object"}, {"additionalProperties", std::move(value)}}, field.description);
  }
  return value;
}

void add_fields(const SchemaType& type, int depth, json::object& properties, json::array& required) {
  CHECK(depth < kDepthMax);
  for (const SchemaField& field : type.fields) {
    if (field.inlined) {
      add_fields(*field.message, depth + 1, properties, required);
      continue;
    }
    properties[jview(field.name)] = field_schema(field, depth + 1);
    if (field.required) required.emplace_back(jview(field.name));
  }
}

json::object schema_of_type(const SchemaType& type, int depth) {
  json::object properties;
  json::array required;
  add_fields(type, depth, properties, required);
  json::object out{{"description", jview(type.description)}, {"type", "object"}};
  if (!required.empty()) out["required"] = std::move(required);
  if (!properties.empty()) out["properties"] = std::move(properties);
  if (type.open) out[kPreserve] = true;
  return out;
}

}  // namespace

json::object structural_schema(const server::SchemaType& kind) {
  CHECK(kind.is_kind());
  json::object schema = schema_of_type(kind, 0);
  json::object properties;
  properties["apiVersion"] =
      json::object{{"description", "Group and version of the object's schema."}, {"type", "string"}};
  properties["kind"] = json::object{{"description", "Kind of the object."}, {"type", "string"}};
  for (json::key_value_pair& each : schema["properties"].as_object()) {
    properties[each.key()] = std::move(each.value());
  }
  properties["metadata"] = json::object{{"type", "object"}};
  schema["properties"] = std::move(properties);
  return schema;
}

}  // namespace trainyard::deploy
