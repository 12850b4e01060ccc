// Route: what a path is about. Pure; whether such a resource exists is the registry's to say.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trainyard::server {

enum class Page {
  kVersion,
  kHealth,  // /healthz, /livez, /readyz and what is below them
  kMetrics,
  kRoot,         // / : the list of paths
  kApiVersions,  // /api
  kApiGroups,    // /apis
  kApiGroup,     // /apis/<group>
  kResources,    // /api/v1, /apis/<group>/<version>
  kOpenApiV2,
  kOpenApiV3Root,
  kOpenApiV3,  // /openapi/v3/api/v1, /openapi/v3/apis/<group>/<version>
};

// A page about the server itself.
struct PagePath {
  Page page = Page::kRoot;
  std::string group;
  std::string version;
  bool operator==(const PagePath&) const = default;
};

// /apis/<group>/<version>[/namespaces/<ns>]/<plural>[/<name>[/<subresource>[/<rest>]]]
struct ResourcePath {
  std::string group;  // "" for the core group
  std::string version;
  std::string ns;
  std::string plural;
  std::string name;
  std::string subresource;
  std::vector<std::string> rest;
  bool operator==(const ResourcePath&) const = default;
};

using Route = std::variant<PagePath, ResourcePath>;

// nullopt: nothing lives at such a path.
std::optional<Route> route_of(const std::vector<std::string>& segments);

}  // namespace trainyard::server
