// Protobuf bodies of the built-in kinds, as typed Go clients send them, turned into the
// JSON they stand for. Pure. Any bytes may be given: what is not an envelope or does not
// hold together is kInvalid.
#pragma once

#include <string_view>

#include "base/result.h"
#include "kube/json.h"

namespace trainyard::server {

// Whether it begins like an envelope ("k8s" and a zero byte).
bool is_protobuf_envelope(std::string_view body);

// The object within an envelope, with apiVersion and kind. kInvalid also for kinds whose
// messages are not known.
Result<json::object> decode_protobuf(std::string_view body);

}  // namespace trainyard::server
