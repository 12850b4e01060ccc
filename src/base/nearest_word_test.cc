#include "base/nearest_word.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(NearestWord, SlipsOfTheFingersOnly) {
  std::vector<std::string_view> known = {"validate", "explain", "convert"};
  EXPECT_EQ(nearest_word("vlaidate", known), "validate");
  EXPECT_EQ(nearest_word("expl", known), "explain");
  EXPECT_EQ(nearest_word("convret", known), "convert");
  EXPECT_EQ(nearest_word("zzzzzz", known), "");
  EXPECT_EQ(nearest_word("", known), "");
  EXPECT_EQ(nearest_word("t9", {"vc", "a"}), "");
  EXPECT_EQ(nearest_word("rn", {"run"}), "run");
  EXPECT_EQ(nearest_word("r", {"a", "run"}), "run");
  EXPECT_EQ(nearest_word(std::string(10000, 'e'), known), "");
}

}  // namespace
}  // namespace trainyard
