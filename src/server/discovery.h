// Discovery: what tells clients which resources there are. Pure functions of the registry;
// equal registries give equal documents and ETags.
#pragma once

#include <optional>
#include <string_view>

#include "server/document.h"
#include "server/registry.h"

namespace trainyard::server {

// Legacy is one document for each group and version; the others have everything in two.
// Answer with "Vary: Accept".
enum class DiscoveryForm { kLegacy, kV2Beta1, kV2 };

// GET /api
Document discover_core(const Registry& registry, DiscoveryForm form);
// GET /apis
Document discover_groups(const Registry& registry, DiscoveryForm form);
// GET /apis/<group>; nullopt when there is no such group.
std::optional<Document> discover_group(const Registry& registry, std::string_view group);
// GET /api/v1 (group "") and /apis/<group>/<version>; nullopt when there is none.
std::optional<Document> discover_resources(const Registry& registry, std::string_view group,
                                           std::string_view version);
// GET /version; `git_version` is a semantic version such as "v1.33.0-trainyard".
Document version_document(std::string_view git_version);

}  // namespace trainyard::server
