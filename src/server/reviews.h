// Reviews: questions about who somebody is and what they may do. Whoever got in is the
// administrator of this machine's plane and may do everything. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/json.h"
#include "server/registry.h"

namespace trainyard::server {

struct User {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  bool operator==(const User&) const = default;
};

// Who a bearer token is; nullopt for nobody.
using FindUser = std::function<std::optional<User>(std::string_view token)>;

// The body with its answer in `status`, for every resource with Backing::kReview.
// kInvalid when the body does not ask anything. REQUIRES: resource.backing is kReview.
Result<json::object> answer_review(const ApiResource& resource, json::object body, const User& asker,
                                   const FindUser& find_user, Time now);

// What POST serviceaccounts/<name>/token gives.
json::object answer_token_request(json::object body, std::string_view token, Time expires);

}  // namespace trainyard::server
