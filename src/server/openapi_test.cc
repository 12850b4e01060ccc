#include "server/openapi.h"

#include <gtest/gtest.h>

#include <functional>

#include "kube/access.h"
#include "server/protobuf_reader.h"
#include "server/schema_text.h"

namespace trainyard::server {
namespace {

using kube::object_at;
using kube::text_at;

json::object parsed(const Document& document) { return json::parse(document.body).as_object(); }

// Every $ref must lead somewhere.
void expect_whole(const json::value& value, const json::object& definitions) {
  if (const json::object* object = value.if_object()) {
    for (const json::key_value_pair& member : *object) {
      if (member.key() == "$ref" && member.value().is_string()) {
        std::string_view target = kube::view(member.value().get_string());
        EXPECT_TRUE(definitions.contains(kube::jview(target.substr(target.rfind('/') + 1)))) << target;
      } else {
        expect_whole(member.value(), definitions);
      }
    }
  } else if (const json::array* list = value.if_array()) {
    for (const json::value& each : *list) expect_whole(each, definitions);
  }
}

TEST(OpenApi, EveryDocumentIsWhole) {
  Registry registry;
  json::object root = parsed(openapi_v3_root(registry));
  EXPECT_TRUE(text_at(root, {"paths", "apis/kubeflow.org/v1", "serverRelativeURL"})
                  .starts_with("/openapi/v3/apis/kubeflow.org/v1?hash="));
  for (const ApiResource* each : registry.all()) {
    json::object document = parsed(*openapi_v3(registry, each->resource.group, each->resource.version));
    expect_whole(document, *object_at(document, {"components", "schemas"}));
  }
  json::object v2 = parsed(openapi_v2(registry));
  expect_whole(v2, *object_at(v2, {"definitions"}));
  EXPECT_FALSE(openapi_v3(registry, "kubeflow.org", "v9"));
}

TEST(OpenApi, TellsWhatAPatchTakes) {
  Registry registry;
  json::object pods = parsed(*openapi_v3(registry, "", "v1"));
  const json::object* patch =
      object_at(pods, {"paths", "/api/v1/namespaces/{namespace}/pods/{name}", "patch"});
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(text_at(*patch, {"x-kubernetes-group-version-kind", "kind"}), "Pod");
  EXPECT_NE(object_at(*patch, {"requestBody", "content", "application/strategic-merge-patch+json"}), nullptr);
  bool validates = false;
  for (const json::value& each : *kube::array_at(*patch, {"parameters"})) {
    validates = validates || text_at(each.as_object(), {"name"}) == "fieldValidation";
  }
  EXPECT_TRUE(validates);

  json::object jobs = parsed(*openapi_v3(registry, "kubeflow.org", "v1"));
  patch = object_at(jobs, {"paths", "/apis/kubeflow.org/v1/namespaces/{namespace}/tfjobs/{name}", "patch"});
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(object_at(*patch, {"requestBody", "content", "application/strategic-merge-patch+json"}), nullptr);
}

TEST(OpenApi, TellsHowListsMerge) {
  Registry registry;
  json::object document = parsed(*openapi_v3(registry, "", "v1"));
  const json::object& schemas = *object_at(document, {"components", "schemas"});
  const json::object* containers =
      object_at(schemas, {"io.k8s.api.core.v1.PodSpec", "properties", "containers"});
  EXPECT_EQ(text_at(*containers, {"x-kubernetes-patch-merge-key"}), "name");
  EXPECT_EQ(text_at(*containers, {"x-kubernetes-patch-strategy"}), "merge");
  EXPECT_EQ(text_at(*object_at(schemas, {"io.k8s.api.core.v1.PodSpec", "properties", "volumes"}),
                    {"x-kubernetes-patch-strategy"}),
            "merge,retainKeys");
  EXPECT_NE(object_at(schemas, {"io.k8s.api.core.v1.Volume", "properties", "emptyDir"}), nullptr)
      << "the fields of what is inlined are its own";
}

TEST(OpenApi, ProtobufHasEveryDefinitionOfTheJson) {
  Registry registry;
  json::object v2 = parsed(openapi_v2(registry));
  Document protobuf = openapi_v2_protobuf(registry);
  EXPECT_EQ(protobuf.content_type, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  ProtobufReader document(protobuf.body);
  size_t definitions = 0;
  while (std::optional<ProtobufField> field = document.next()) {
    if (field->number != 9) continue;
    ProtobufReader all(field->bytes);
    while (std::optional<ProtobufField> named = all.next()) {
      ProtobufReader definition(named->bytes);
      EXPECT_TRUE(object_at(v2, {"definitions"})->contains(kube::jview(definition.next()->bytes)));
      ++definitions;
    }
    EXPECT_FALSE(all.broken());
  }
  EXPECT_EQ(definitions, object_at(v2, {"definitions"})->size());
}

TEST(OpenApi, ServesTheSchemaOfACrd) {
  Registry registry;
  std::string before = openapi_v3_root(registry).body;
  json::value crd = json::parse(R"({"metadata":{"name":"things.example.org"},"spec":{"group":"example.org",
      "scope":"Cluster","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,
      "storage":true,"schema":{"openAPIV3Schema":{"type":"object","description":"A thing.",
      "properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
                    "size":{"type":"integer","nullable":true}}}}}]}})");
  ASSERT_TRUE(registry.put_crd(crd.as_object()).ok());
  EXPECT_NE(openapi_v3_root(registry).body, before);
  json::object document = parsed(*openapi_v3(registry, "example.org", "v1"));
  const json::object* thing = object_at(document, {"components", "schemas", "org.example.v1.Thing"});
  ASSERT_NE(thing, nullptr);
  EXPECT_EQ(text_at(*thing, {"description"}), "A thing.");
  EXPECT_NE(object_at(*thing, {"properties", "metadata"}), nullptr);
  json::object v2 = parsed(openapi_v2(registry));
  const json::object* old = object_at(v2, {"definitions", "org.example.v1.Thing"});
  ASSERT_NE(old, nullptr);
  EXPECT_EQ(json::serialize(*object_at(*old, {"properties", "spec"})), "{}") << "loose parts are left open";
}

TEST(Schema, EveryStoredKindHasOne) {
  Registry registry;
  for (const ApiResource* each : registry.all()) {
    EXPECT_NE(schema_of(each->resource.group, each->resource.version, each->resource.kind), nullptr)
        << each->resource.kind;
  }
}

TEST(Schema, EveryTypeAndFieldIsDescribed) {
  for (const auto& [name, type] : known_schemas().types) {
    EXPECT_FALSE(type.description.empty()) << name;
    for (const SchemaField& field : type.fields) {
      EXPECT_TRUE(field.inlined || field.description.ends_with('.')) << name << " " << field.name;
    }
  }
}

TEST(Schema, ReadsItsLanguage) {
  const std::string_view text =
      "package a.b\ntype T kind g/v1 | A kind.\n1 < U\n2 names! []string ~ | Some.\n"
      "type U open | More.\n- us *U | Itself.\n3 by {}quantity | Amounts.\n4 ls []U ~k retainkeys | L.\n";
  Result<Schemas> schemas = parse_schemas(std::vector{text});
  ASSERT_TRUE(schemas.ok()) << schemas.error().message;
  const SchemaType& type = schemas->types.at("a.b.T");
  EXPECT_EQ(type.group, "g");
  EXPECT_EQ(type.field("names")->merge_set, true);
  EXPECT_TRUE(type.field("names")->required);
  EXPECT_EQ(type.field("us")->message, &schemas->types.at("a.b.U")) << "through what is inlined";
  EXPECT_EQ(type.field("by")->many, Many::kMap);
  EXPECT_EQ(type.field("ls")->merge_key, "k");
  EXPECT_EQ(type.field_numbered(2)->name, "names");
  for (std::string_view broken :
       {"1 a string", "package a\ntype T\n1 a Missing", "package a\ntype T\nx a string",
        "package a\ntype T\ntype T", "package a\ntype T kind v1"}) {
    EXPECT_FALSE(parse_schemas(std::vector{broken}).ok()) << broken;
  }
}

}  // namespace
}  // namespace trainyard::server
