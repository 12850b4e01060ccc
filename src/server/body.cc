#include "server/body.h"

#include <fmt/format.h>

#include "hub/arena.h"
#include "kube/access.h"
#include "kube/parse_into.h"
#include "kube/yaml.h"
#include "server/negotiate.h"
#include "server/protobuf.h"
#include "server/validate_fields.h"

namespace trainyard::server {
namespace {

using kube::jview;

constexpr size_t kBytesPerByteOfText = 3;  // about what a document takes in memory

Status unreadable(const Error& error) { return bad_request("the body cannot be read: " + error.message); }

OrStatus<json::value> yaml_value(std::string_view text) {
  Result<std::vector<kube::Document>> documents = kube::parse_yaml(text);
  if (!documents.ok()) return unreadable(documents.error());
  if (documents->size() != 1) return bad_request("the body must be one document");
  return std::move(documents.value().front().body);
}

// In memory of its own: most of what is sent is kept, and one piece is faster asked for than fifty.
OrStatus<json::value> json_value(std::string_view text) {
  hub::Arena* arena = nullptr;
  json::storage_ptr storage =
      json::make_shared_resource<hub::Arena>(kBytesPerByteOfText * text.size(), arena);
  Result<json::value> value = kube::parse_json_into(storage, text);
  arena->seal();
  if (!value.ok()) return unreadable(value.error());
  return std::move(value).value();
}

// `json_text`: where keys may be written twice.
OrStatus<ObjectBody> as_object(OrStatus<json::value> value, std::string_view json_text = {}) {
  if (const auto* status = std::get_if<Status>(&value)) return *status;
  json::value& body = std::get<json::value>(value);
  if (!body.is_object()) return bad_request("the body must be an object");
  std::vector<std::string> duplicates = duplicate_fields(json_text, body);
  return ObjectBody{std::move(body.get_object()), std::move(duplicates)};
}

OrStatus<PatchBody> as_patch(kube::PatchKind kind, OrStatus<json::value> value,
                             std::string_view json_text = {}) {
  if (const auto* status = std::get_if<Status>(&value)) return *status;
  json::value& patch = std::get<json::value>(value);
  bool list = kind == kube::PatchKind::kJson;
  if (list ? !patch.is_array() : !patch.is_object()) {
    return bad_request(list ? "the patch must be a list of operations" : "the patch must be an object");
  }
  std::vector<std::string> duplicates = duplicate_fields(json_text, patch);
  return PatchBody{kind, std::move(patch), std::move(duplicates)};
}

std::optional<Status> fit_member(json::object& metadata, std::string_view member, std::string_view in_url) {
  std::string_view in_body = kube::text_at(metadata, {member});
  if (in_url.empty() || in_body == in_url) return std::nullopt;
  if (in_body.empty()) {
    metadata[jview(member)] = jview(in_url);
    return std::nullopt;
  }
  return bad_request(fmt::format("the {} of the object ({}) does not match the {} on the URL ({})", member,
                                 kube::shown(in_body), member, in_url));
}

}  // namespace

OrStatus<ObjectBody> object_of_body(const HttpRequest& request) {
  if (request.body.empty()) return bad_request("the request has no body");
  std::string_view type = request.header("content-type");
  switch (body_type_of(type)) {
    case BodyType::kJson:
      return as_object(json_value(request.body), request.body);
    case BodyType::kYaml:
      return as_object(yaml_value(request.body));
    case BodyType::kProtobuf: {
      Result<json::object> object = decode_protobuf(request.body);
      if (!object.ok()) return unreadable(object.error());
      return ObjectBody{std::move(object).value(), {}};
    }
    case BodyType::kJsonPatch:
    case BodyType::kMergePatch:
    case BodyType::kStrategicPatch:
    case BodyType::kApplyPatch:
    case BodyType::kUnknown:
      break;
  }
  return unsupported_media_type(
      type, {"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"});
}

OrStatus<PatchBody> patch_of_body(const HttpRequest& request, bool built_in) {
  if (request.body.empty()) return bad_request("the request has no body");
  std::string_view type = request.header("content-type");
  switch (body_type_of(type)) {
    case BodyType::kJsonPatch:
      return as_patch(kube::PatchKind::kJson, json_value(request.body));
    case BodyType::kMergePatch:
      return as_patch(kube::PatchKind::kMerge, json_value(request.body), request.body);
    case BodyType::kStrategicPatch:
      if (!built_in) break;
      return as_patch(kube::PatchKind::kStrategic, json_value(request.body), request.body);
    case BodyType::kApplyPatch:
      return as_patch(kube::PatchKind::kApply, yaml_value(request.body));
    case BodyType::kJson:
    case BodyType::kYaml:
    case BodyType::kProtobuf:
    case BodyType::kUnknown:
      break;
  }
  std::vector<std::string_view> wanted{"application/json-patch+json", "application/merge-patch+json",
                                       "application/apply-patch+yaml"};
  if (built_in) wanted.push_back("application/strategic-merge-patch+json");
  return unsupported_media_type(type, wanted);
}

std::optional<Status> fit_to_path(const kube::Resource& resource, std::string_view ns, std::string_view name,
                                  json::object& body) {
  std::string version = resource.api_version();
  std::string_view body_version = kube::text_at(body, {"apiVersion"});
  std::string_view body_kind = kube::text_at(body, {"kind"});
  if (!body_version.empty() && body_version != version) {
    return bad_request(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    kube::shown(body_version), version));
  }
  if (!body_kind.empty() && body_kind != resource.kind) {
    return bad_request(fmt::format("the kind in the data ({}) does not match the expected kind ({})",
                                   kube::shown(body_kind), resource.kind));
  }
  body["apiVersion"] = version;
  body["kind"] = jview(resource.kind);
  json::value& metadata = body["metadata"];
  if (metadata.is_null()) metadata.emplace_object();
  if (!metadata.is_object()) return bad_request("metadata: an object is wanted");
  if (std::optional<Status> wrong = fit_member(metadata.get_object(), "namespace", ns)) return wrong;
  return fit_member(metadata.get_object(), "name", name);
}

}  // namespace trainyard::server
