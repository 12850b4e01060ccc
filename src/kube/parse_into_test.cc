#include "kube/parse_into.h"

#include <gtest/gtest.h>

namespace trainyard::kube {
namespace {

TEST(ParseInto, PartsLieWhereItWasSaid) {
  const json::storage_ptr where = json::make_shared_resource<json::monotonic_resource>();
  Result<json::value> parsed =
      parse_json_into(where, R"({"a":["a text that is too long to lie in its value"]})");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->storage(), where);
  EXPECT_EQ(parsed->at("a").storage(), where);
  EXPECT_EQ(parsed->at("a").at(0).storage(), where);
}

TEST(ParseInto, WhatIsNoJsonIsRefused) {
  struct Row {
    std::string_view text;
    std::string_view message;
  };
  for (const Row& row : {
           Row{R"({"a":[1,{"b":1e999}]})", "not valid JSON: a number is too large"},
           Row{"-1e999", "not valid JSON: a number is too large"},
           Row{"{} {}", "not valid JSON: extra data"},
           Row{"{", "not valid JSON: incomplete JSON"},
           Row{"", "not valid JSON: incomplete JSON"},
           Row{"[[[[1]]]]", "not valid JSON: too deep"},
       }) {
    Result<json::value> parsed = parse_json_into({}, row.text, 3);
    ASSERT_FALSE(parsed.ok()) << row.text;
    EXPECT_EQ(parsed.error().message, row.message) << row.text;
  }
}

}  // namespace
}  // namespace trainyard::kube
