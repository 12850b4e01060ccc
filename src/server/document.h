// Document: a body that is made once and sent many times, with what HTTP says about it.
#pragma once

#include <string>
#include <string_view>

#include "kube/json.h"

namespace trainyard::server {

struct Document {
  std::string body;
  std::string content_type;
  std::string etag;  // in quotes, as the header has it; the same for the same body

  bool operator==(const Document&) const = default;
};

Document document_of(std::string body, std::string_view content_type);
Document document_of(const json::value& body, std::string_view content_type = "application/json");

}  // namespace trainyard::server
