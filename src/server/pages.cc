#include "server/pages.h"

#include <fmt/format.h>

#include "server/call.h"
#include "server/discovery.h"
#include "server/negotiate.h"
#include "server/openapi.h"
#include "server/status.h"
#include "server/text.h"

namespace trainyard::server {
namespace {

HttpResponse plain(std::string text, int status = 200) {
  return {.status = status, .content_type = "text/plain; charset=utf-8", .body = std::move(text)};
}

HttpResponse root() {
  json::array paths;
  for (const char* path : {"/api", "/api/v1", "/apis", "/healthz", "/livez", "/metrics", "/openapi/v2",
                           "/openapi/v3", "/readyz", "/version"}) {
    paths.emplace_back(path);
  }
  return response_of(json::object{{"paths", std::move(paths)}});
}

bool has_tag(std::string_view header, std::string_view etag) {
  for (std::string_view tag : split_list(header)) {
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == "*" || tag == etag) return true;
  }
  return false;
}

}  // namespace

HttpResponse response_of(const HttpRequest& request, const Document& document) {
  HttpResponse response{.content_type = document.content_type};
  response.headers = {{"ETag", document.etag}, {"Vary", "Accept"}, {"Cache-Control", "no-cache, private"}};
  if (has_tag(request.header("if-none-match"), document.etag)) {
    response.status = 304;
  } else {
    response.body = document.body;
  }
  return response;
}

HttpResponse Pages::handle(const HttpRequest& request, const PagePath& path) {
  if (request.method != "GET") return response_of(method_not_allowed(nullptr, request.method));
  switch (path.page) {
    case Page::kRoot:
      return root();
    case Page::kHealth:
      return health();
    case Page::kVersion:
      return response_of(request, version_document(git_version_));
    case Page::kMetrics:
      return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = counters_.text()};
    case Page::kApiVersions:
    case Page::kApiGroups:
    case Page::kApiGroup:
    case Page::kResources:
      return discovery(request, path);
    case Page::kOpenApiV2:
    case Page::kOpenApiV3Root:
    case Page::kOpenApiV3:
      return openapi(request, path);
  }
  return response_of(path_not_found());
}

HttpResponse Pages::health() const {
  if (std::optional<std::string> reason = hub_.failed()) {
    return plain(fmt::format("the store cannot be written: {}", *reason), 500);
  }
  return plain("ok");
}

HttpResponse Pages::discovery(const HttpRequest& request, const PagePath& path) {
  std::optional<Document> document;
  if (path.page == Page::kApiVersions || path.page == Page::kApiGroups) {
    std::optional<DiscoveryForm> form = pick_discovery_form(request.header("accept"));
    if (!form) return response_of(not_acceptable({"application/json"}));
    bool core = path.page == Page::kApiVersions;
    document = kept(fmt::format("discovery {} {}", core, static_cast<int>(*form)), [&] {
      return core ? discover_core(registry_, *form) : discover_groups(registry_, *form);
    });
  } else if (path.page == Page::kApiGroup) {
    document = discover_group(registry_, path.group);
  } else {
    document = discover_resources(registry_, path.group, path.version);
  }
  return document ? response_of(request, *document) : response_of(path_not_found());
}

HttpResponse Pages::openapi(const HttpRequest& request, const PagePath& path) {
  std::string_view accept = request.header("accept");
  std::optional<OpenApiForm> form =
      path.page == Page::kOpenApiV2 ? pick_openapi_v2_form(accept) : pick_openapi_v3_form(accept);
  if (!form) return response_of(not_acceptable({"application/json"}));
  std::string key = fmt::format("openapi {} {} {}/{}", static_cast<int>(path.page), static_cast<int>(*form),
                                path.group, path.version);
  std::optional<Document> document = kept(key, [&]() -> std::optional<Document> {
    if (path.page == Page::kOpenApiV3Root) return openapi_v3_root(registry_);
    if (path.page == Page::kOpenApiV3) return openapi_v3(registry_, path.group, path.version);
    return *form == OpenApiForm::kProtobuf ? openapi_v2_protobuf(registry_) : openapi_v2(registry_);
  });
  return document ? response_of(request, *document) : response_of(path_not_found());
}

std::optional<Document> Pages::kept(const std::string& key,
                                    const std::function<std::optional<Document>()>& make) {
  std::lock_guard lock(mutex_);
  uint64_t generation = registry_.generation();
  if (generation != generation_) documents_.clear();
  generation_ = generation;
  auto found = documents_.find(key);
  if (found != documents_.end()) return found->second;
  std::optional<Document> made = make();
  if (made) documents_.emplace(key, *made);
  return made;
}

}  // namespace trainyard::server
