// parse_json (yaml.h) for who says where the parts of a document lie. Pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "kube/json.h"

namespace trainyard::kube {

// The value, what is moved out of it and what is copied from it lie in `where` and keep it alive.
Result<json::value> parse_json_into(const json::storage_ptr& where, std::string_view text,
                                    int depth_max = 100);

}  // namespace trainyard::kube
