#include "server/openapi_gnostic.h"

#include "kube/access.h"
#include "server/protobuf_reader.h"

namespace trainyard::server {
namespace {

using kube::object_at;
using kube::text_at;

// Numbers of fields in openapi.v2 of gnostic.
namespace document {
constexpr int kSwagger = 1, kInfo = 2, kPaths = 8, kDefinitions = 9;
}
namespace info {
constexpr int kTitle = 1, kVersion = 2;
}
namespace named {
constexpr int kName = 1, kValue = 2;
}
namespace path_item {
constexpr int kGet = 2, kPatch = 8;
}
namespace operation {
constexpr int kDescription = 3, kOperationId = 5, kConsumes = 7, kParameters = 8, kResponses = 9,
              kExtension = 13;
}
namespace query_parameter {
constexpr int kIn = 2, kDescription = 3, kName = 4, kType = 6;
}
namespace schema {
constexpr int kRef = 1, kFormat = 2, kDescription = 4, kRequired = 19, kAdditional = 21, kType = 22,
              kItems = 23, kProperties = 25, kExtension = 31;
}
constexpr int kPathsPath = 2;         // Paths.path
constexpr int kOnly = 1;              // the one field of messages that wrap something
constexpr int kNonBodyParameter = 2;  // Parameter.non_body_parameter
constexpr int kQueryParameter = 3;    // NonBodyParameter.query_parameter_sub_schema
constexpr int kAnyYaml = 2;           // Any.yaml

void add_text(ProtobufWriter& to, int number, const json::object& from, std::string_view key) {
  std::string_view text = text_at(from, {key});
  if (!text.empty()) to.add_bytes(number, text);
}

ProtobufWriter wrapped(int number, const ProtobufWriter& message) {
  ProtobufWriter out;
  out.add_message(number, message);
  return out;
}

ProtobufWriter named_message(std::string_view name, const ProtobufWriter& value) {
  ProtobufWriter out;
  out.add_bytes(named::kName, name);
  out.add_message(named::kValue, value);
  return out;
}

void add_extensions(ProtobufWriter& to, int number, const json::object& from) {
  for (const json::key_value_pair& each : from) {
    std::string_view key = kube::view(each.key());
    if (!key.starts_with("x-")) continue;
    ProtobufWriter any;
    any.add_bytes(kAnyYaml, json::serialize(each.value()) + "\n");  // JSON is YAML
    to.add_message(number, named_message(key, any));
  }
}

ProtobufWriter schema_message(const json::object& from) {
  ProtobufWriter out;
  add_text(out, schema::kRef, from, "$ref");
  add_text(out, schema::kFormat, from, "format");
  add_text(out, schema::kDescription, from, "description");
  if (const json::array* required = kube::array_at(from, {"required"})) {
    for (const json::value& each : *required) {
      if (each.is_string()) out.add_bytes(schema::kRequired, kube::view(each.get_string()));
    }
  }
  if (const json::object* below = object_at(from, {"additionalProperties"})) {
    out.add_message(schema::kAdditional, wrapped(kOnly, schema_message(*below)));
  }
  if (std::string_view type = text_at(from, {"type"}); !type.empty()) {
    ProtobufWriter item;
    item.add_bytes(kOnly, type);
    out.add_message(schema::kType, item);
  }
  if (const json::object* below = object_at(from, {"items"})) {
    out.add_message(schema::kItems, wrapped(kOnly, schema_message(*below)));
  }
  if (const json::object* properties = object_at(from, {"properties"})) {
    ProtobufWriter all;
    for (const json::key_value_pair& each : *properties) {
      if (!each.value().is_object()) continue;
      all.add_message(kOnly,
                      named_message(kube::view(each.key()), schema_message(each.value().get_object())));
    }
    out.add_message(schema::kProperties, all);
  }
  add_extensions(out, schema::kExtension, from);
  return out;
}

ProtobufWriter parameter_message(const json::object& from) {
  ProtobufWriter query;
  add_text(query, query_parameter::kIn, from, "in");
  add_text(query, query_parameter::kDescription, from, "description");
  add_text(query, query_parameter::kName, from, "name");
  add_text(query, query_parameter::kType, from, "type");
  return wrapped(kOnly, wrapped(kNonBodyParameter, wrapped(kQueryParameter, query)));
}

ProtobufWriter operation_message(const json::object& from) {
  ProtobufWriter out;
  add_text(out, operation::kDescription, from, "description");
  add_text(out, operation::kOperationId, from, "operationId");
  if (const json::array* consumes = kube::array_at(from, {"consumes"})) {
    for (const json::value& each : *consumes) {
      if (each.is_string()) out.add_bytes(operation::kConsumes, kube::view(each.get_string()));
    }
  }
  if (const json::array* parameters = kube::array_at(from, {"parameters"})) {
    for (const json::value& each : *parameters) {
      if (each.is_object()) out.add_message(operation::kParameters, parameter_message(each.get_object()));
    }
  }
  ProtobufWriter ok;
  ok.add_bytes(kOnly, "OK");  // Response.description
  out.add_message(operation::kResponses, wrapped(kOnly, named_message("200", wrapped(kOnly, ok))));
  add_extensions(out, operation::kExtension, from);
  return out;
}

ProtobufWriter path_message(const json::object& from) {
  ProtobufWriter out;
  if (const json::object* get = object_at(from, {"get"})) {
    out.add_message(path_item::kGet, operation_message(*get));
  }
  if (const json::object* patch = object_at(from, {"patch"})) {
    out.add_message(path_item::kPatch, operation_message(*patch));
  }
  return out;
}

template <typename Message>
ProtobufWriter all_named(const json::object* from, int number, Message message) {
  ProtobufWriter out;
  for (const json::key_value_pair& each : from ? *from : json::object()) {
    if (!each.value().is_object()) continue;
    out.add_message(number, named_message(kube::view(each.key()), message(each.value().get_object())));
  }
  return out;
}

}  // namespace

std::string gnostic_document(const json::object& openapi_v2) {
  ProtobufWriter about;
  about.add_bytes(info::kTitle, text_at(openapi_v2, {"info", "title"}));
  about.add_bytes(info::kVersion, text_at(openapi_v2, {"info", "version"}));
  ProtobufWriter out;
  out.add_bytes(document::kSwagger, "2.0");
  out.add_message(document::kInfo, about);
  out.add_message(document::kPaths, all_named(object_at(openapi_v2, {"paths"}), kPathsPath, path_message));
  out.add_message(document::kDefinitions,
                  all_named(object_at(openapi_v2, {"definitions"}), kOnly, schema_message));
  return out.bytes();
}

}  // namespace trainyard::server
