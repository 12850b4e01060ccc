#include "server/uri.h"

#include <gtest/gtest.h>

namespace trainyard::server {
namespace {

std::string shown_target(std::string_view target) {
  Result<Uri> uri = parse_target(target);
  if (!uri.ok()) return "refused";
  std::string text;
  for (const std::string& segment : uri->segments) text += "[" + segment + "]";
  return text;
}

TEST(UriTest, PathsAreTakenApart) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"/", ""},
      {"/api", "[api]"},
      {"/api/", "[api]"},
      {"/api/v1/namespaces/a%2Db/pods?watch=1", "[api][v1][namespaces][a-b][pods]"},
      {"/apis/g/v1/x/system%3Anode", "[apis][g][v1][x][system:node]"},
      {"/a/%C3%A4", "[a][\xc3\xa4]"},
  };
  for (auto [target, wanted] : kCases) EXPECT_EQ(shown_target(target), wanted) << target;
}

TEST(UriTest, WhatIsDoubtfulIsRefused) {
  for (std::string_view target : {"",           "api",        "//",          "/api//v1",
                                  "/api/v1//",  "/api/..",    "/api/../v1",  "/api/%2e%2e/v1",
                                  "/api/.%2E",  "/api/.",     "/api/a%2Fb",  "/api/a%5cb",
                                  "/api/a%00b", "/api/a%0ab", "/api/%7f",    "/api/%",
                                  "/api/%1",    "/api/%zz",   "/api/%ff",    "/api/%c0%af",
                                  "/api#x",     "/api?x=%f",  "http://a/api"}) {
    EXPECT_EQ(shown_target(target), "refused") << target;
  }
  EXPECT_EQ(shown_target(std::string_view("/a\nb", 4)), "refused");
  EXPECT_EQ(shown_target("/" + std::string(kTargetBytesMax, 'a')), "refused");
}

TEST(UriTest, QueriesKeepOrderAndRepetition) {
  Result<Uri> uri = parse_target("/x?command=sh&command=-c&command=a+b%26c&empty&also=");
  ASSERT_TRUE(uri.ok());
  EXPECT_EQ(uri->query.all("command"), (std::vector<std::string>{"sh", "-c", "a b&c"}));
  EXPECT_TRUE(uri->query.has("empty"));
  EXPECT_TRUE(uri->query.has("also"));
  EXPECT_EQ(uri->query.get("none"), "");
}

TEST(UriTest, FlagsAndNumbersAreChecked) {
  Result<Uri> uri = parse_target("/x?a=true&b=1&c=false&d=maybe&n=12&m=1x&e=");
  ASSERT_TRUE(uri.ok());
  const Query& query = uri->query;
  EXPECT_TRUE(*query.flag("a"));
  EXPECT_TRUE(*query.flag("b"));
  EXPECT_FALSE(*query.flag("c"));
  EXPECT_FALSE(*query.flag("absent"));
  EXPECT_FALSE(query.flag("d").ok());
  EXPECT_EQ(**query.number("n"), 12);
  EXPECT_FALSE(query.number("m").ok());
  EXPECT_FALSE(query.number("e")->has_value());
}

}  // namespace
}  // namespace trainyard::server
