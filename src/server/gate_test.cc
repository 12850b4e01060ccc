#include "server/gate.h"

#include <gtest/gtest.h>

namespace trainyard::server {
namespace {

constexpr Time kGateTime{1'800'000'000'000};

Gate gate() { return Gate("s3cret", {"localhost", "127.0.0.1", "::1"}); }

HttpRequest request(std::vector<Header> headers) {
  return {.method = "GET", .target = "/", .headers = std::move(headers)};
}

TEST(GateTest, HostsAreOurs) {
  for (const char* host : {"localhost", "LOCALHOST:6443", "127.0.0.1:1", "[::1]", "[::1]:6443"}) {
    EXPECT_FALSE(gate().check_address(request({{"Host", host}}))) << host;
  }
  for (const char* host : {"", "evil.example", "localhost.evil.example", "localhost:x",
                           "localhost:", "127.0.0.2", "[::1", "[::1]x", "::1", "localhost@evil.example"}) {
    ASSERT_TRUE(gate().check_address(request({{"Host", host}}))) << host;
    EXPECT_EQ(gate().check_address(request({{"Host", host}}))->code, 403) << host;
  }
  EXPECT_TRUE(gate().check_address(request({})));
  EXPECT_TRUE(gate().check_address(request({{"Host", "localhost"}, {"host", "localhost"}})));
}

TEST(GateTest, OriginsAreOurs) {
  auto from = [](const char* origin) {
    return gate().check_address(request({{"Host", "localhost:6443"}, {"Origin", origin}})).has_value();
  };
  EXPECT_FALSE(from("https://localhost:6443"));
  EXPECT_FALSE(from("http://localhost:6443"));
  for (const char* origin :
       {"null", "", "https://evil.example", "https://localhost:3000", "localhost:6443"}) {
    EXPECT_TRUE(from(origin)) << origin;
  }
}

TEST(GateTest, OnlyThoseWeKnow) {
  auto who = [](const char* authorization) {
    return gate().who(request({{"Authorization", authorization}}), kGateTime);
  };
  ASSERT_TRUE(who("Bearer s3cret"));
  EXPECT_EQ(who("bearer s3cret")->name, "kubernetes-admin");
  for (const char* wrong :
       {"", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3cret1", "Basic s3cret", "s3cret"}) {
    EXPECT_FALSE(who(wrong)) << wrong;
  }
  EXPECT_FALSE(gate().who(request({}), kGateTime));
  HttpRequest with_certificate = request({});
  with_certificate.client_certificate = true;
  EXPECT_TRUE(gate().who(with_certificate, kGateTime));
  with_certificate.headers.push_back({"Authorization", "Bearer wrong"});
  EXPECT_FALSE(gate().who(with_certificate, kGateTime));
}

TEST(GateTest, AccountsComeWithSignedTokens) {
  Tokens tokens("s3cret");
  std::string token = tokens.issue("ns", "trainer", "u-1", kGateTime, kGateTime + seconds(600));
  std::optional<User> user = tokens.user_of(token, kGateTime + seconds(599));
  ASSERT_TRUE(user);
  EXPECT_EQ(user->name, "system:serviceaccount:ns:trainer");
  EXPECT_EQ(user->uid, "u-1");
  EXPECT_FALSE(tokens.user_of(token, kGateTime + seconds(600)));
  EXPECT_FALSE(Tokens("other").user_of(token, kGateTime));
  for (size_t i = 0; i < token.size(); i += 7) {
    std::string bent = token;
    bent[i] = bent[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(tokens.user_of(bent, kGateTime)) << i;
  }
  EXPECT_FALSE(tokens.user_of("a.b.c", kGateTime));
  EXPECT_FALSE(tokens.user_of(".", kGateTime));
}

}  // namespace
}  // namespace trainyard::server
