#include "server/http.h"

#include "server/text.h"

namespace trainyard::server {

std::string_view HttpRequest::header(std::string_view name) const {
  for (const Header& header : headers) {
    if (equals_ignoring_case(header.name, name)) return header.value;
  }
  return {};
}

}  // namespace trainyard::server
