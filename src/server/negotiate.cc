#include "server/negotiate.h"

#include <algorithm>
#include <cstdlib>

#include "server/text.h"

namespace trainyard::server {
namespace {

std::string_view parameter(const MediaRange& range, std::string_view name) {
  auto found = range.parameters.find(name);
  return found == range.parameters.end() ? std::string_view() : std::string_view(found->second);
}

// "0.5" without help of the locale; anything odd is 1.
double quality_of(std::string_view text) {
  double value = 0;
  double unit = 1;
  bool point = false;
  for (char c : text) {
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      if (point) unit /= 10;
      value = point ? value + unit * (c - '0') : value * 10 + (c - '0');
    } else {
      return 1;
    }
  }
  return text.empty() || value > 1 ? 1 : value;
}

// Splits at a character that is not within quotes.
std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '"') quoted = !quoted;
    if (i < text.size() && (text[i] != at || quoted)) continue;
    parts.push_back(trimmed(text.substr(start, i - start)));
    start = i + 1;
  }
  return parts;
}

bool is_any_json(const MediaRange& range) {
  return range.type == "application/json" || range.type == "application/*" || range.type == "*/*";
}

std::optional<ObjectForm> form_of(const MediaRange& range) {
  bool json = is_any_json(range);
  bool yaml = range.type == "application/yaml";
  if (!json && !yaml) return std::nullopt;
  Encoding encoding = yaml ? Encoding::kYaml : Encoding::kJson;
  std::string_view as = parameter(range, "as");
  if (as.empty()) return ObjectForm{encoding, Shape::kObject};
  std::string_view version = parameter(range, "v");
  bool known = parameter(range, "g") == "meta.k8s.io" && (version == "v1" || version == "v1beta1");
  if (!known) return std::nullopt;
  if (as == "Table") {
    return ObjectForm{encoding, version == "v1" ? Shape::kTable : Shape::kTableV1Beta1};
  }
  if (as == "PartialObjectMetadata") return ObjectForm{encoding, Shape::kPartialMetadata};
  if (as == "PartialObjectMetadataList") return ObjectForm{encoding, Shape::kPartialMetadataList};
  return std::nullopt;
}

template <typename Form, typename Choose>
std::optional<Form> first_of(std::string_view accept, Form fallback, Choose choose) {
  std::vector<MediaRange> ranges = parse_accept(accept);
  if (ranges.empty()) return fallback;
  for (const MediaRange& range : ranges) {
    if (range.quality <= 0) continue;
    if (std::optional<Form> form = choose(range)) return form;
  }
  return std::nullopt;
}

}  // namespace

MediaRange parse_media_type(std::string_view content_type) {
  MediaRange range;
  std::vector<std::string_view> parts = split(content_type, ';');
  range.type = lower_case(parts.front());
  for (size_t i = 1; i < parts.size(); ++i) {
    size_t equals = parts[i].find('=');
    if (equals == std::string_view::npos) continue;
    std::string name = lower_case(trimmed(parts[i].substr(0, equals)));
    std::string_view value = trimmed(parts[i].substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (name == "q") {
      range.quality = quality_of(value);
    } else {
      range.parameters[std::move(name)] = value;
    }
  }
  return range;
}

std::vector<MediaRange> parse_accept(std::string_view accept) {
  std::vector<MediaRange> ranges;
  for (std::string_view part : split(accept, ',')) {
    if (!part.empty()) ranges.push_back(parse_media_type(part));
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const MediaRange& a, const MediaRange& b) { return a.quality > b.quality; });
  return ranges;
}

std::optional<ObjectForm> pick_object_form(std::string_view accept) {
  return first_of<ObjectForm>(accept, ObjectForm{}, form_of);
}

std::string_view content_type_of(const ObjectForm& form) {
  switch (form.encoding) {
    case Encoding::kJson:
      return "application/json";
    case Encoding::kYaml:
      return "application/yaml";
  }
  return {};
}

std::vector<std::string_view> acceptable_types() { return {"application/json", "application/yaml"}; }

std::optional<DiscoveryForm> pick_discovery_form(std::string_view accept) {
  return first_of<DiscoveryForm>(
      accept, DiscoveryForm::kLegacy, [](const MediaRange& range) -> std::optional<DiscoveryForm> {
        if (!is_any_json(range)) return std::nullopt;
        std::string_view as = parameter(range, "as");
        if (as.empty()) return DiscoveryForm::kLegacy;
        if (as != "APIGroupDiscoveryList" || parameter(range, "g") != "apidiscovery.k8s.io") {
          return std::nullopt;
        }
        if (parameter(range, "v") == "v2") return DiscoveryForm::kV2;
        if (parameter(range, "v") == "v2beta1") return DiscoveryForm::kV2Beta1;
        return std::nullopt;
      });
}

std::optional<OpenApiForm> pick_openapi_v2_form(std::string_view accept) {
  return first_of<OpenApiForm>(
      accept, OpenApiForm::kJson, [](const MediaRange& range) -> std::optional<OpenApiForm> {
        if (is_any_json(range)) return OpenApiForm::kJson;
        // Written with a dot or an at sign before "v1.0", depending on the client's age.
        bool protobuf = range.type.starts_with("application/com.github.proto-openapi.spec.v2") &&
                        range.type.ends_with("v1.0+protobuf");
        if (protobuf) return OpenApiForm::kProtobuf;
        return std::nullopt;
      });
}

std::optional<OpenApiForm> pick_openapi_v3_form(std::string_view accept) {
  return first_of<OpenApiForm>(accept, OpenApiForm::kJson,
                               [](const MediaRange& range) -> std::optional<OpenApiForm> {
                                 if (is_any_json(range)) return OpenApiForm::kJson;
                                 return std::nullopt;
                               });
}

BodyType body_type_of(std::string_view content_type) {
  static constexpr std::pair<std::string_view, BodyType> kTypes[] = {
      {"", BodyType::kJson},
      {"application/json", BodyType::kJson},
      {"application/yaml", BodyType::kYaml},
      {"application/vnd.kubernetes.protobuf", BodyType::kProtobuf},
      {"application/json-patch+json", BodyType::kJsonPatch},
      {"application/merge-patch+json", BodyType::kMergePatch},
      {"application/strategic-merge-patch+json", BodyType::kStrategicPatch},
      {"application/apply-patch+yaml", BodyType::kApplyPatch},
  };
  std::string type = parse_media_type(content_type).type;
  for (const auto& [name, body_type] : kTypes) {
    if (type == name) return body_type;
  }
  return BodyType::kUnknown;
}

}  // namespace trainyard::server
