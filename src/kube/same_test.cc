#include "kube/same.h"

#include <gtest/gtest.h>

namespace trainyard::kube {
namespace {

// Every pair of these: the answer is the library's own.
TEST(Same, AnswersAsTheLibraryDoes) {
  const char* texts[] = {
      "null",
      "true",
      "false",
      "0",
      "1",
      "1.0",
      "1.5",
      "-1",
      "\"\"",
      "\"a\"",
      "\"b\"",
      "18446744073709551615",
      "[]",
      "[1]",
      "[1,2]",
      "[2,1]",
      "[[1]]",
      "{}",
      R"({"a":1})",
      R"({"a":2})",
      R"({"b":1})",
      R"({"a":1,"b":2})",
      R"({"b":2,"a":1})",
      R"({"a":{"b":[1,{"c":null}]}})",
      R"({"a":{"b":[1,{"c":0}]}})",
      R"({"a":{"b":[1,{"d":null}]}})",
  };
  for (const char* left : texts) {
    for (const char* right : texts) {
      const json::value a = json::parse(left);
      const json::value b = json::parse(right);
      EXPECT_EQ(same(a, b), a == b) << left << " and " << right;
    }
  }
}

TEST(Same, NumbersOfEitherSignednessAreOne) {
  EXPECT_TRUE(same(json::value(uint64_t{3}), json::value(int64_t{3})));
  EXPECT_FALSE(same(json::value(uint64_t{3}), json::value(int64_t{4})));
}

}  // namespace
}  // namespace trainyard::kube
