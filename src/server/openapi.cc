#include "server/openapi.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "kube/access.h"
#include "server/openapi_gnostic.h"
#include "server/openapi_schema.h"
#include "server/schema_text.h"

namespace trainyard::server {
namespace {

using kube::jview;

// Clients ask for it with an at sign, but that does not parse as the type of an answer.
constexpr std::string_view kGnosticType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

struct QueryParameter {
  std::string_view name;
  std::string_view type;
  std::string_view description;
};
// What every patch takes. Clients look here to learn whether the server knows them.
constexpr QueryParameter kPatchParameters[] = {
    {"dryRun", "string", "All to change nothing."},
    {"fieldManager", "string", "Who makes the change."},
    {"fieldValidation", "string", "What is done about unknown fields: Ignore, Warn or Strict."},
    {"force", "boolean", "Whether an apply takes fields over from other managers."},
};

std::string group_path(const kube::Resource& resource) {
  return resource.group.empty() ? fmt::format("/api/{}", resource.version)
                                : fmt::format("/apis/{}/{}", resource.group, resource.version);
}

std::string collection_path(const kube::Resource& resource) {
  std::string root = group_path(resource);
  return resource.namespaced ? fmt::format("{}/namespaces/{{namespace}}/{}", root, resource.plural)
                             : fmt::format("{}/{}", root, resource.plural);
}

json::object kind_of(const kube::Resource& resource) {
  return {
      {"group", jview(resource.group)}, {"kind", jview(resource.kind)}, {"version", jview(resource.version)}};
}

std::vector<std::string_view> patch_types(const ApiResource& resource) {
  std::vector<std::string_view> types{"application/json-patch+json", "application/merge-patch+json",
                                      "application/apply-patch+yaml"};
  if (resource.built_in) types.insert(types.begin() + 2, "application/strategic-merge-patch+json");
  return types;
}

json::array patch_parameters(OpenApiVersion version) {
  json::array out;
  for (const QueryParameter& each : kPatchParameters) {
    json::object parameter{
        {"name", jview(each.name)}, {"in", "query"}, {"description", jview(each.description)}};
    if (version == OpenApiVersion::kV2) {
      parameter["type"] = jview(each.type);
    } else {
      parameter["schema"] = json::object{{"type", jview(each.type)}};
    }
    out.push_back(std::move(parameter));
  }
  return out;
}

json::object operation_on(const ApiResource& resource, std::string_view action, const json::object& reference,
                          OpenApiVersion version) {
  const kube::Resource& kind = resource.resource;
  json::object ok{{"description", "OK"}};
  if (version == OpenApiVersion::kV2) {
    ok["schema"] = reference;
  } else {
    ok["content"] = json::object{{"application/json", json::object{{"schema", reference}}}};
  }
  json::object out{{"description", fmt::format("{} {}", action, kind.kind)},
                   {"operationId", fmt::format("{}{}{}", action, definition_name(kind), kind.plural)},
                   {"x-kubernetes-action", jview(action)},
                   {"x-kubernetes-group-version-kind", kind_of(kind)}};
  if (action == "patch") {
    out["parameters"] = patch_parameters(version);
    json::object content;
    json::array consumes;
    for (std::string_view type : patch_types(resource)) {
      content[jview(type)] = json::object{{"schema", json::object{{"type", "object"}}}};
      consumes.emplace_back(jview(type));
    }
    if (version == OpenApiVersion::kV2) {
      out["consumes"] = std::move(consumes);
    } else {
      out["requestBody"] = json::object{{"content", std::move(content)}, {"required", true}};
    }
  }
  out["responses"] = json::object{{"200", std::move(ok)}};
  return out;
}

void add_paths(json::object& paths, const ApiResource& resource, const json::object& reference,
               OpenApiVersion version) {
  std::string collection = collection_path(resource.resource);
  if (resource.has_verb("list")) {
    paths[collection] = json::object{{"get", operation_on(resource, "list", reference, version)}};
  } else if (resource.has_verb("create")) {
    paths[collection] = json::object{{"post", operation_on(resource, "post", reference, version)}};
  }
  json::object one;
  if (resource.has_verb("get")) one["get"] = operation_on(resource, "get", reference, version);
  if (resource.has_verb("patch")) one["patch"] = operation_on(resource, "patch", reference, version);
  if (!one.empty()) paths[collection + "/{name}"] = std::move(one);
}

// Kinds that only subresources have: Scale, Eviction, Binding, TokenRequest.
void add_subresource_kinds(SchemaWriter& writer, const ApiResource& resource) {
  for (const Subresource& sub : resource.subresources) {
    bool own = sub.version.empty();
    const SchemaType* type =
        schema_of(own ? resource.resource.group : std::string_view(sub.group),
                  own ? resource.resource.version : std::string_view(sub.version), sub.kind);
    if (type != nullptr) writer.add_type(*type);
  }
}

json::object about() { return {{"title", "Trainyard"}, {"version", "v1"}}; }

json::object v2_document(const Registry& registry) {
  SchemaWriter writer(OpenApiVersion::kV2);
  json::object paths;
  for (const ApiResource* resource : registry.all()) {
    json::object reference = writer.reference(writer.add_kind(*resource));
    add_paths(paths, *resource, reference, OpenApiVersion::kV2);
    add_subresource_kinds(writer, *resource);
  }
  return {{"swagger", "2.0"},
          {"info", about()},
          {"paths", std::move(paths)},
          {"definitions", writer.take_definitions()}};
}

// Where the document of a group and version is, below /openapi/v3/.
std::string document_path(const kube::Resource& resource) { return group_path(resource).substr(1); }

// Changes whenever the document of the group and version does: what is in it comes from the
// known schemas, the entries and the schemas of CRDs. Making the documents would take longer.
std::map<std::string, uint64_t> fingerprints(const Registry& registry) {
  std::map<std::string, uint64_t> all;
  for (const ApiResource* resource : registry.all()) {
    auto [at, added] = all.try_emplace(document_path(resource->resource), schema_fingerprint());
    uint64_t& hash = at->second;
    hash = fnv1a(definition_name(resource->resource), hash);
    hash = fnv1a(collection_path(resource->resource), hash);
    for (const std::string& verb : resource->verbs) hash = fnv1a(verb, hash);
    for (const Subresource& sub : resource->subresources) hash = fnv1a(sub.name, hash);
    if (resource->schema) hash = fnv1a(json::serialize(*resource->schema), hash);
  }
  return all;
}

}  // namespace

Document openapi_v3_root(const Registry& registry) {
  json::object paths;
  for (const auto& [path, hash] : fingerprints(registry)) {
    paths[path] = json::object{{"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={:016X}", path, hash)}};
  }
  return document_of(json::object{{"paths", std::move(paths)}});
}

std::optional<Document> openapi_v3(const Registry& registry, std::string_view group,
                                   std::string_view version) {
  if (!registry.serves(group, version)) return std::nullopt;
  SchemaWriter writer(OpenApiVersion::kV3);
  json::object paths;
  for (const ApiResource* resource : registry.all()) {
    if (resource->resource.group != group || resource->resource.version != version) continue;
    json::object reference = writer.reference(writer.add_kind(*resource));
    add_paths(paths, *resource, reference, OpenApiVersion::kV3);
    add_subresource_kinds(writer, *resource);
  }
  return document_of(json::object{{"openapi", "3.0.0"},
                                  {"info", about()},
                                  {"paths", std::move(paths)},
                                  {"components", json::object{{"schemas", writer.take_definitions()}}}});
}

Document openapi_v2(const Registry& registry) { return document_of(v2_document(registry)); }

Document openapi_v2_protobuf(const Registry& registry) {
  return document_of(gnostic_document(v2_document(registry)), kGnosticType);
}

}  // namespace trainyard::server
