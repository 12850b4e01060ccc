#include "server/reviews.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"
#include "kube/texts.h"

namespace trainyard::server {
namespace {

using kube::text_at;

constexpr std::string_view kAdmins = "system:masters";

json::object user_info(const User& user) {
  json::object out{{"username", user.name}};
  if (!user.uid.empty()) out["uid"] = user.uid;
  if (!user.groups.empty()) out["groups"] = kube::to_array(user.groups);
  return out;
}

Error asks_nothing(std::string_view field, std::string_view why) {
  return Error{ErrorKind::kInvalid, fmt::format("{}: Invalid value: \"null\": {}", field, why)};
}

Result<Done> check_attributes(const json::object& body) {
  bool resource = kube::object_at(body, {"spec", "resourceAttributes"}) != nullptr;
  bool other = kube::object_at(body, {"spec", "nonResourceAttributes"}) != nullptr;
  if (resource == other) {
    return asks_nothing("spec.resourceAttributes",
                        "exactly one of nonResourceAttributes or resourceAttributes must be specified");
  }
  return Done{};
}

json::object allowed(bool yes) {
  if (yes) return {{"allowed", true}, {"reason", "an administrator may do everything"}};
  return {{"allowed", false}, {"reason", "no such administrator"}};
}

bool names_admin(const json::object& body, const User& asker) {
  if (text_at(body, {"spec", "user"}) == asker.name) return true;
  const json::array* groups = kube::array_at(body, {"spec", "groups"});
  return groups && std::any_of(groups->begin(), groups->end(), [](const json::value& each) {
           return each.is_string() && kube::view(each.get_string()) == kAdmins;
         });
}

json::object all_rules() {
  json::array any{"*"};
  return {
      {"resourceRules", json::array{json::object{{"verbs", any}, {"apiGroups", any}, {"resources", any}}}},
      {"nonResourceRules", json::array{json::object{{"verbs", any}, {"nonResourceURLs", any}}}},
      {"incomplete", false}};
}

json::object token_status(const json::object& body, const FindUser& find_user) {
  std::optional<User> user = find_user ? find_user(text_at(body, {"spec", "token"})) : std::nullopt;
  if (!user) return {{"authenticated", false}, {"user", json::object()}};
  json::object status{{"authenticated", true}, {"user", user_info(*user)}};
  if (const json::array* audiences = kube::array_at(body, {"spec", "audiences"})) {
    status["audiences"] = *audiences;
  }
  return status;
}

Result<json::object> status_for(std::string_view kind, const json::object& body, const User& asker,
                                const FindUser& find_user) {
  if (kind == "SelfSubjectReview") return json::object{{"userInfo", user_info(asker)}};
  if (kind == "TokenReview") {
    if (text_at(body, {"spec", "token"}).empty()) return asks_nothing("spec.token", "token is required");
    return token_status(body, find_user);
  }
  if (kind == "SelfSubjectRulesReview") return all_rules();
  if (Result<Done> checked = check_attributes(body); !checked.ok()) return checked.error();
  return allowed(kind == "SelfSubjectAccessReview" || names_admin(body, asker));
}

}  // namespace

Result<json::object> answer_review(const ApiResource& resource, json::object body, const User& asker,
                                   const FindUser& find_user, Time now) {
  CHECK(resource.backing == Backing::kReview);
  Result<json::object> status = status_for(resource.resource.kind, body, asker, find_user);
  if (!status.ok()) return status.error();
  body["kind"] = kube::jview(resource.resource.kind);
  body["apiVersion"] = resource.resource.api_version();
  kube::ensure_object(body, {"metadata"})["creationTimestamp"] = format_rfc3339(now);
  body["status"] = std::move(status.value());
  return body;
}

json::object answer_token_request(json::object body, std::string_view token, Time expires) {
  body["kind"] = "TokenRequest";
  body["apiVersion"] = "authentication.k8s.io/v1";
  body["status"] =
      json::object{{"token", kube::jview(token)}, {"expirationTimestamp", format_rfc3339(expires)}};
  return body;
}

}  // namespace trainyard::server
