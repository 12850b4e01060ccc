// An OpenAPI v2 document as gnostic's protobuf: what kubectl up to 1.28 asks for. Pure.
// Writes what openapi.cc puts into the JSON document and nothing else of the format.
#pragma once

#include <string>

#include "kube/json.h"

namespace trainyard::server {

std::string gnostic_document(const json::object& openapi_v2);

}  // namespace trainyard::server
