// OpenAPI: the schemas of everything served, for `kubectl explain`, `apply` and `create`.
// Pure functions of the registry; they take some milliseconds, so keep what they give
// for as long as registry.generation() stays.
#pragma once

#include <optional>
#include <string_view>

#include "server/document.h"
#include "server/registry.h"

namespace trainyard::server {

// GET /openapi/v3: where each group and version has its own document.
Document openapi_v3_root(const Registry& registry);
// GET /openapi/v3/api/v1 (group "") and /openapi/v3/apis/<group>/<version>; nullopt when
// it is not served. The ?hash= of the root needs no check.
std::optional<Document> openapi_v3(const Registry& registry, std::string_view group,
                                   std::string_view version);

// GET /openapi/v2, as JSON and as gnostic's protobuf.
Document openapi_v2(const Registry& registry);
Document openapi_v2_protobuf(const Registry& registry);

}  // namespace trainyard::server
