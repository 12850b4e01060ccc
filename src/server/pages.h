// Pages about the server itself: version, discovery, OpenAPI, metrics. What is slow to make
// is kept for as long as the registry stays the same. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "hub/hub.h"
#include "server/counters.h"
#include "server/document.h"
#include "server/http.h"
#include "server/registry.h"
#include "server/route.h"

namespace trainyard::server {

class Pages {
 public:
  Pages(const Registry& registry, const hub::Hub& hub, const Counters& counters, std::string git_version)
      : registry_(registry), hub_(hub), counters_(counters), git_version_(std::move(git_version)) {}

  HttpResponse handle(const HttpRequest& request, const PagePath& path);

 private:
  HttpResponse health() const;
  HttpResponse discovery(const HttpRequest& request, const PagePath& path);
  HttpResponse openapi(const HttpRequest& request, const PagePath& path);
  // Made once for each generation of the registry; `make` gives nullopt when there is none.
  std::optional<Document> kept(const std::string& key, const std::function<std::optional<Document>()>& make);

  // Fixed.
  const Registry& registry_;
  const hub::Hub& hub_;
  const Counters& counters_;
  std::string git_version_;
  // State.
  std::mutex mutex_;
  uint64_t generation_ = 0;
  std::map<std::string, Document> documents_;
};

// 304 when the client has it already.
HttpResponse response_of(const HttpRequest& request, const Document& document);

}  // namespace trainyard::server
