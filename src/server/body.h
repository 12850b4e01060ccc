// Bodies of requests, decoded by their Content-Type. Pure. A refusal is a Status: 415 for a
// type we do not read, 400 for a text that does not hold together.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "kube/json.h"
#include "kube/request.h"
#include "server/http.h"
#include "server/registry.h"
#include "server/status.h"

namespace trainyard::server {

template <typename T>
using OrStatus = std::variant<T, Status>;

struct ObjectBody {
  json::object object;
  std::vector<std::string> duplicates;  // `duplicate field "spec.a"`
};
// JSON, YAML or protobuf. REQUIRES: the body is not empty, or that is a 400.
OrStatus<ObjectBody> object_of_body(const HttpRequest& request);

struct PatchBody {
  kube::PatchKind kind = kube::PatchKind::kMerge;
  json::value patch;
  std::vector<std::string> duplicates;
};
// `built_in`: whether strategic patches are understood.
OrStatus<PatchBody> patch_of_body(const HttpRequest& request, bool built_in);

// Whether the body is of this group, version and kind, and for this name and namespace;
// what is missing is filled in from the URL. nullopt when all is well.
std::optional<Status> fit_to_path(const kube::Resource& resource, std::string_view ns, std::string_view name,
                                  json::object& body);

}  // namespace trainyard::server
