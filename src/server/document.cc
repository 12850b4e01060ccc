#include "server/document.h"

#include <fmt/format.h>

#include "base/hash.h"

namespace trainyard::server {

Document document_of(std::string body, std::string_view content_type) {
  // Two rounds make 128 bits: a wrong "not modified" would hide a resource for hours.
  uint64_t hash = fnv1a(body);
  std::string etag = fmt::format("\"{:016X}{:016X}\"", hash, fnv1a(body, hash));
  return Document{std::move(body), std::string(content_type), std::move(etag)};
}

Document document_of(const json::value& body, std::string_view content_type) {
  return document_of(json::serialize(body), content_type);
}

}  // namespace trainyard::server
