// Negotiate: what a client's Accept and Content-Type headers ask for. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/discovery.h"

namespace trainyard::server {

// One part of an Accept header. Names of parameters are lower case.
struct MediaRange {
  std::string type;  // "application/json", "*/*"; lower case
  std::map<std::string, std::string, std::less<>> parameters;
  double quality = 1.0;
};

// As the client prefers them: by quality, then as written. Empty when the header is.
std::vector<MediaRange> parse_accept(std::string_view accept);
// The one type of a Content-Type header, with its parameters.
MediaRange parse_media_type(std::string_view content_type);

enum class Encoding { kJson, kYaml };
enum class Shape { kObject, kTable, kTableV1Beta1, kPartialMetadata, kPartialMetadataList };

struct ObjectForm {
  Encoding encoding = Encoding::kJson;
  Shape shape = Shape::kObject;
  bool operator==(const ObjectForm&) const = default;
};

// For objects, lists and watches. nullopt: 406. Protobuf is never picked by itself: a client
// that takes nothing else is one that we cannot serve. PartialObjectMetadata is taken for a
// list too, and the other way round: the server sends the one that fits.
std::optional<ObjectForm> pick_object_form(std::string_view accept);
// The Content-Type of an answer in that form.
std::string_view content_type_of(const ObjectForm& form);
// What pick_object_form can give, for the 406.
std::vector<std::string_view> acceptable_types();

// For /api and /apis. nullopt: 406.
std::optional<DiscoveryForm> pick_discovery_form(std::string_view accept);

enum class OpenApiForm { kJson, kProtobuf };
// For /openapi/v2 and /openapi/v3 (where kProtobuf never comes). nullopt: 406.
std::optional<OpenApiForm> pick_openapi_v2_form(std::string_view accept);
std::optional<OpenApiForm> pick_openapi_v3_form(std::string_view accept);

// What a request's body is. kJson also when the header is missing.
enum class BodyType {
  kJson,
  kYaml,
  kProtobuf,
  kJsonPatch,
  kMergePatch,
  kStrategicPatch,
  kApplyPatch,  // YAML or JSON
  kUnknown,     // 415
};
BodyType body_type_of(std::string_view content_type);

}  // namespace trainyard::server
