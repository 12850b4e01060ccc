// Schemas as OpenAPI writes them, for both versions. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "kube/json.h"
#include "server/registry.h"
#include "server/schema.h"

namespace trainyard::server {

enum class OpenApiVersion { kV2, kV3 };

// A scalar that needs no definition of its own: numbers, words, lists of words, whatever there is.
json::object plain_schema(ScalarType scalar);

// Collects definitions and whatever they refer to, each once.
class SchemaWriter {
 public:
  explicit SchemaWriter(OpenApiVersion version) : version_(version) {}

  // The kind of a resource, with everything below it. Returns the definition's name.
  std::string add_kind(const ApiResource& resource);
  void add_type(const SchemaType& type);

  // By name, in order.
  json::object take_definitions();
  // {"$ref": ...} to a definition of that name.
  json::object reference(std::string_view name) const;

 private:
  json::object definition_of(const SchemaType& type);
  void add_fields(const SchemaType& type, json::object& properties, json::array& required);
  json::object field_schema(const SchemaField& field);
  json::object value_schema(const SchemaField& field);
  json::object described_reference(std::string_view name, std::string_view description) const;
  std::string add_open_kind(const ApiResource& resource);

  OpenApiVersion version_;
  std::map<std::string, json::object> definitions_;
};

// The definition's name of a kind that has no schema of its own: "org.example.v1.Thing".
std::string definition_name(const kube::Resource& resource);

}  // namespace trainyard::server
