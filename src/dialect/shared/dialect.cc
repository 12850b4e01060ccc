#include "dialect/shared/dialect.h"

#include "kube/access.h"

namespace trainyard::dialect {

const Dialect* find_dialect(std::span<const Dialect> dialects, const json::object& document) {
  std::string_view api_version = kube::text_at(document, {"apiVersion"});
  std::string_view kind = kube::text_at(document, {"kind"});
  for (const Dialect& dialect : dialects) {
    if (dialect.recognises(api_version, kind)) return &dialect;
  }
  return nullptr;
}

}  // namespace trainyard::dialect
