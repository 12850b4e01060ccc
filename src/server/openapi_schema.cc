#include "server/openapi_schema.h"

#include <fmt/format.h>

#include "kube/access.h"

namespace trainyard::server {
namespace {

using kube::jview;

constexpr std::string_view kQuantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
constexpr std::string_view kIntOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
constexpr std::string_view kTime = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
constexpr std::string_view kMicroTime = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";
constexpr std::string_view kVersionText =
    "Group and version of the object's schema, such as v1 or kubeflow.org/v1.";
constexpr std::string_view kKindText = "Kind of the object.";
constexpr std::string_view kMetadataText = "Name, namespace, labels and the rest that every object has.";
constexpr int kSchemaDepthMax = 64;

json::object text_schema(std::string_view description) {
  return {{"description", jview(description)}, {"type", "string"}};
}

json::array kinds_of(std::string_view group, std::string_view version, std::string_view kind) {
  return {json::object{{"group", jview(group)}, {"kind", jview(kind)}, {"version", jview(version)}}};
}

json::object quantity_schema(OpenApiVersion version) {
  json::object out{{"description", "An amount: a number with a suffix such as 500m, 2, 192Mi or 1e3."}};
  if (version == OpenApiVersion::kV2) {
    out["type"] = "string";
  } else {
    out["oneOf"] = json::array{json::object{{"type", "string"}}, json::object{{"type", "number"}}};
  }
  return out;
}

json::object int_or_string_schema(OpenApiVersion version) {
  json::object out{{"description", "A number or a text."}, {"format", "int-or-string"}};
  if (version == OpenApiVersion::kV2) {
    out["type"] = "string";
  } else {
    out["oneOf"] = json::array{json::object{{"type", "integer"}}, json::object{{"type", "string"}}};
  }
  return out;
}

json::object time_schema(bool micro) {
  return {{"description", micro ? "A time as RFC 3339 writes it, with microseconds."
                                : "A time as RFC 3339 writes it, in whole seconds."},
          {"type", "string"},
          {"format", "date-time"}};
}

// The name of a scalar that has a definition of its own; "" for the others.
std::string_view definition_of_scalar(ScalarType scalar) {
  if (scalar == ScalarType::kQuantity) return kQuantity;
  if (scalar == ScalarType::kIntOrString) return kIntOrString;
  if (scalar == ScalarType::kTime) return kTime;
  if (scalar == ScalarType::kMicroTime) return kMicroTime;
  return {};
}

json::object scalar_definition(ScalarType scalar, OpenApiVersion version) {
  if (scalar == ScalarType::kQuantity) return quantity_schema(version);
  if (scalar == ScalarType::kIntOrString) return int_or_string_schema(version);
  return time_schema(scalar == ScalarType::kMicroTime);
}

// A CRD's schema with what OpenAPI v2 can say: clients of that age refuse what they do not
// know, so where the schema is loose they are told nothing.
json::object v2_schema(const json::object& schema, int depth) {
  json::object out;
  if (const json::value* text = schema.if_contains("description")) out["description"] = *text;
  bool preserves = kube::bool_at(schema, {kPreserve}).value_or(false);
  bool nullable = kube::bool_at(schema, {"nullable"}).value_or(false);
  if (preserves || nullable || depth > kSchemaDepthMax) return out;
  if (kube::bool_at(schema, {"x-kubernetes-int-or-string"}).value_or(false)) {
    out["type"] = "string";
    out["format"] = "int-or-string";
    return out;
  }
  for (std::string_view key : {"type", "format", "required"}) {
    if (const json::value* value = schema.if_contains(jview(key))) out[jview(key)] = *value;
  }
  for (std::string_view key : {"items", "additionalProperties"}) {
    const json::object* below = kube::object_at(schema, {key});
    if (below != nullptr) out[jview(key)] = v2_schema(*below, depth + 1);
  }
  if (const json::object* properties = kube::object_at(schema, {"properties"})) {
    json::object& to = out["properties"].emplace_object();
    for (const json::key_value_pair& each : *properties) {
      if (each.value().is_object()) to[each.key()] = v2_schema(each.value().get_object(), depth + 1);
    }
  }
  return out;
}

}  // namespace

json::object plain_schema(ScalarType scalar) {
  switch (scalar) {
    case ScalarType::kInt32:
      return {{"type", "integer"}, {"format", "int32"}};
    case ScalarType::kInt64:
      return {{"type", "integer"}, {"format", "int64"}};
    case ScalarType::kBool:
      return {{"type", "boolean"}};
    case ScalarType::kDouble:
      return {{"type", "number"}, {"format", "double"}};
    case ScalarType::kBytes:
      return {{"type", "string"}, {"format", "byte"}};
    case ScalarType::kStringList:
      return {{"type", "array"}, {"items", json::object{{"type", "string"}}}};
    case ScalarType::kRaw:
      return {{"type", "object"}};
    case ScalarType::kString:
    case ScalarType::kDuration:
    case ScalarType::kTime:
    case ScalarType::kMicroTime:
    case ScalarType::kQuantity:
    case ScalarType::kIntOrString:
    case ScalarType::kMessage:
      break;
  }
  return {{"type", "string"}};
}

std::string definition_name(const kube::Resource& resource) {
  // "example.org" is "org.example" here.
  std::string name;
  std::string_view group = resource.group;
  while (!group.empty()) {
    size_t dot = group.rfind('.');
    std::string_view part = dot == std::string_view::npos ? group : group.substr(dot + 1);
    name += fmt::format("{}.", part);
    group = dot == std::string_view::npos ? std::string_view() : group.substr(0, dot);
  }
  return fmt::format("{}{}.{}", name, resource.version, resource.kind);
}

json::object SchemaWriter::reference(std::string_view name) const {
  std::string_view where = version_ == OpenApiVersion::kV2 ? "#/definitions/" : "#/components/schemas/";
  return {{"$ref", fmt::format("{}{}", where, name)}};
}

json::object SchemaWriter::described_reference(std::string_view name, std::string_view description) const {
  json::object out;
  if (!description.empty()) out["description"] = jview(description);
  if (version_ == OpenApiVersion::kV2) {
    out["$ref"] = reference(name)["$ref"];
  } else {
    out["allOf"] = json::array{reference(name)};
  }
  return out;
}

json::object SchemaWriter::value_schema(const SchemaField& field) {
  if (field.scalar == ScalarType::kMessage) {
    add_type(*field.message);
    return reference(field.message->full_name());
  }
  std::string_view name = definition_of_scalar(field.scalar);
  if (name.empty()) return plain_schema(field.scalar);
  definitions_.try_emplace(std::string(name), scalar_definition(field.scalar, version_));
  return reference(name);
}

json::object SchemaWriter::field_schema(const SchemaField& field) {
  json::object value = value_schema(field);
  json::object out;
  switch (field.many) {
    case Many::kOne:
      if (const json::value* target = value.if_contains("$ref")) {
        std::string_view name = kube::view(target->get_string());
        return described_reference(name.substr(name.rfind('/') + 1), field.description);
      }
      out = std::move(value);
      break;
    case Many::kList:
      out = {{"type", "array"}, {"items", std::move(value)}};
      break;
    case Many::kMap:
      out = {{"type", "object"}, {"additionalProperties", std::move(value)}};
      break;
  }
  if (!field.description.empty()) out["description"] = jview(field.description);
  bool merges = !field.merge_key.empty() || field.merge_set;
  if (!field.merge_key.empty()) out["x-kubernetes-patch-merge-key"] = jview(field.merge_key);
  if (merges) out["x-kubernetes-patch-strategy"] = field.retain_keys ? "merge,retainKeys" : "merge";
  return out;
}

void SchemaWriter::add_fields(const SchemaType& type, json::object& properties, json::array& required) {
  for (const SchemaField& field : type.fields) {
    if (field.inlined) {
      add_fields(*field.message, properties, required);
      continue;
    }
    properties[jview(field.name)] = field_schema(field);
    if (field.required) required.emplace_back(jview(field.name));
  }
}

json::object SchemaWriter::definition_of(const SchemaType& type) {
  json::object properties;
  json::array required;
  if (type.is_kind()) {
    properties["apiVersion"] = text_schema(kVersionText);
    properties["kind"] = text_schema(kKindText);
  }
  add_fields(type, properties, required);
  json::object out{{"description", jview(type.description)}, {"type", "object"}};
  if (!required.empty()) out["required"] = std::move(required);
  if (!properties.empty()) out["properties"] = std::move(properties);
  if (type.open && version_ == OpenApiVersion::kV3) out[jview(kPreserve)] = true;
  if (type.is_kind()) {
    out["x-kubernetes-group-version-kind"] = kinds_of(type.group, type.version, type.name);
  }
  return out;
}

void SchemaWriter::add_type(const SchemaType& type) {
  auto [at, added] = definitions_.try_emplace(type.full_name());
  if (added) at->second = definition_of(type);
}

std::string SchemaWriter::add_open_kind(const ApiResource& resource) {
  std::string name = definition_name(resource.resource);
  json::object schema;
  if (resource.schema) {
    schema = version_ == OpenApiVersion::kV2 ? v2_schema(*resource.schema, 0) : *resource.schema;
  } else if (version_ == OpenApiVersion::kV3) {
    schema[jview(kPreserve)] = true;
  }
  schema["type"] = "object";
  // Without properties a v2 client takes any field; with them it takes no other.
  bool closed = version_ == OpenApiVersion::kV3 || schema.contains("properties");
  if (closed) {
    if (const SchemaType* meta = schema_named(kObjectMeta)) add_type(*meta);
    json::object& properties = kube::ensure_object(schema, {"properties"});
    properties["apiVersion"] = text_schema(kVersionText);
    properties["kind"] = text_schema(kKindText);
    properties["metadata"] = described_reference(kObjectMeta, kMetadataText);
  }
  const kube::Resource& kind = resource.resource;
  schema["x-kubernetes-group-version-kind"] = kinds_of(kind.group, kind.version, kind.kind);
  definitions_[name] = std::move(schema);
  return name;
}

std::string SchemaWriter::add_kind(const ApiResource& resource) {
  const kube::Resource& kind = resource.resource;
  const SchemaType* type = resource.from_crd ? nullptr : schema_of(kind.group, kind.version, kind.kind);
  if (type == nullptr) return add_open_kind(resource);
  add_type(*type);
  return type->full_name();
}

json::object SchemaWriter::take_definitions() {
  json::object out;
  for (auto& [name, definition] : definitions_) out[name] = std::move(definition);
  definitions_.clear();
  return out;
}

}  // namespace trainyard::server
