#include "server/route.h"

#include <span>

namespace trainyard::server {
namespace {

using Segments = std::span<const std::string>;

std::optional<Route> page(Page page, std::string group = "", std::string version = "") {
  return PagePath{page, std::move(group), std::move(version)};
}

// What follows /api/v1 or /apis/<group>/<version>. REQUIRES: !rest.empty().
std::optional<Route> resource_route(std::string group, std::string version, Segments rest) {
  ResourcePath path{.group = std::move(group), .version = std::move(version)};
  // namespaces/<name>/status and /finalize belong to the namespace itself.
  bool in_namespace = rest.size() >= 3 && rest[0] == "namespaces" &&
                      !(path.group.empty() && (rest[2] == "status" || rest[2] == "finalize"));
  if (in_namespace) {
    path.ns = rest[1];
    rest = rest.subspan(2);
  }
  path.plural = rest[0];
  if (rest.size() > 1) path.name = rest[1];
  if (rest.size() > 2) path.subresource = rest[2];
  if (rest.size() > 3) path.rest.assign(rest.begin() + 3, rest.end());
  return path;
}

std::optional<Route> versioned(Segments segments, size_t prefix) {
  bool core = prefix == 2;
  std::string group = core ? "" : segments[1];
  const std::string& version = segments[prefix - 1];
  if (segments.size() == prefix) return page(Page::kResources, group, version);
  return resource_route(group, version, segments.subspan(prefix));
}

std::optional<Route> openapi_route(Segments rest) {
  if (rest.size() == 1 && rest[0] == "v2") return page(Page::kOpenApiV2);
  if (rest.empty() || rest[0] != "v3") return std::nullopt;
  if (rest.size() == 1) return page(Page::kOpenApiV3Root);
  if (rest.size() == 3 && rest[1] == "api") return page(Page::kOpenApiV3, "", rest[2]);
  if (rest.size() == 4 && rest[1] == "apis") return page(Page::kOpenApiV3, rest[2], rest[3]);
  return std::nullopt;
}

}  // namespace

std::optional<Route> route_of(const std::vector<std::string>& segments) {
  if (segments.empty()) return page(Page::kRoot);
  const std::string& first = segments[0];
  size_t count = segments.size();
  if (first == "api") return count == 1 ? page(Page::kApiVersions) : versioned(segments, 2);
  if (first == "apis") {
    if (count == 1) return page(Page::kApiGroups);
    return count == 2 ? page(Page::kApiGroup, segments[1]) : versioned(segments, 3);
  }
  if (first == "openapi") return openapi_route(Segments(segments).subspan(1));
  if (first == "healthz" || first == "livez" || first == "readyz") return page(Page::kHealth);
  if (count != 1) return std::nullopt;
  if (first == "version") return page(Page::kVersion);
  if (first == "metrics") return page(Page::kMetrics);
  return std::nullopt;
}

}  // namespace trainyard::server
