#include "server/reviews.h"

#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::server {
namespace {

const User kAdmin{"admin", "", {"system:masters", "system:authenticated"}};

Result<json::object> answer(std::string_view group, std::string_view plural, std::string_view body) {
  static const Registry kRegistry;
  return answer_review(
      *kRegistry.find(group, "v1", plural), json::parse(kube::jview(body)).as_object(), kAdmin,
      [](std::string_view token) { return token == "good" ? std::optional(kAdmin) : std::nullopt; }, Time{0});
}

TEST(Reviews, TheAdministratorMayDoEverything) {
  constexpr std::string_view kGroup = "authorization.k8s.io";
  auto allowed = [&](std::string_view plural, std::string_view body) {
    return kube::bool_at(*answer(kGroup, plural, body), {"status", "allowed"});
  };
  EXPECT_EQ(allowed("selfsubjectaccessreviews", R"({"spec":{"resourceAttributes":{"verb":"get"}}})"), true);
  EXPECT_EQ(allowed("subjectaccessreviews", R"({"spec":{"user":"admin","nonResourceAttributes":{}}})"), true);
  EXPECT_EQ(allowed("subjectaccessreviews", R"({"spec":{"user":"eve","nonResourceAttributes":{}}})"), false);
  EXPECT_FALSE(answer(kGroup, "selfsubjectaccessreviews", R"({"spec":{}})").ok());
  EXPECT_EQ(json::serialize(*kube::find(*answer(kGroup, "selfsubjectrulesreviews", "{}"),
                                        {"status", "nonResourceRules"})),
            R"([{"verbs":["*"],"nonResourceURLs":["*"]}])");
}

TEST(Reviews, SayWhoSomebodyIs) {
  constexpr std::string_view kGroup = "authentication.k8s.io";
  Result<json::object> me = answer(kGroup, "selfsubjectreviews", "{}");
  EXPECT_EQ(kube::text_at(*me, {"status", "userInfo", "username"}), "admin");
  EXPECT_EQ(kube::text_at(*me, {"kind"}), "SelfSubjectReview");
  EXPECT_EQ(kube::bool_at(*answer(kGroup, "tokenreviews", R"({"spec":{"token":"good"}})"),
                          {"status", "authenticated"}),
            true);
  EXPECT_EQ(kube::bool_at(*answer(kGroup, "tokenreviews", R"({"spec":{"token":"bad"}})"),
                          {"status", "authenticated"}),
            false);
  EXPECT_FALSE(answer(kGroup, "tokenreviews", "{}").ok());
  EXPECT_EQ(kube::text_at(answer_token_request({}, "t", Time{0}), {"status", "token"}), "t");
}

}  // namespace
}  // namespace trainyard::server
