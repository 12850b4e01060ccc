#include "dialect/shared/log_places.h"

#include <fmt/format.h>

#include "kube/access.h"

namespace trainyard::dialect {

std::string fileset_fault(std::string_view uri) {
  if (uri.starts_with(kFilesetInClaim) || uri.starts_with(kFilesetInStore)) return "";
  return fmt::format("\"{}\" is neither t9k://pvc/<claim>/<path> nor t9k://minio/<secret>/<bucket>",
                     kube::shown(uri));
}

std::string log_url_fault(std::string_view url) {
  bool known = url.starts_with("http://") || url.starts_with("https://");
  if (known && url.find(',') == std::string_view::npos) return "";
  return fmt::format("\"{}\" is not an address", kube::shown(url));
}

}  // namespace trainyard::dialect
