#include "dialect/shared/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::dialect {
namespace {

using ::testing::ElementsAre;

TEST(Reader, WritesDownEveryProblemWithItsPath) {
  json::object object =
      json::parse(R"({"a":{"n":-1,"half":1.5,"big":1e30,"small":-1e30,"s":7,"b":"yes","l":[1,"x"],"o":[{},2],
      "w":"blue","nothing":null,"whole":3.0}})")
          .as_object();
  std::vector<Problem> problems;
  Reader a = Reader::root(object, problems).child("a");
  EXPECT_EQ(a.whole("n", 0), std::nullopt);
  EXPECT_EQ(a.whole("half"), std::nullopt);
  EXPECT_EQ(a.whole("big"), std::nullopt);
  EXPECT_EQ(a.whole("small", -5), std::nullopt);
  EXPECT_EQ(a.whole("whole"), 3);
  EXPECT_EQ(a.text("s"), std::nullopt);
  EXPECT_EQ(a.boolean("b"), std::nullopt);
  EXPECT_EQ(a.texts("l"), std::vector<std::string>{"x"});
  EXPECT_EQ(a.children("o").size(), 2u);
  EXPECT_EQ(a.one_of("w", {"red", "green"}), std::nullopt);
  EXPECT_EQ(a.text("nothing"), std::nullopt);
  EXPECT_FALSE(a.child("absent").present());
  std::vector<std::string> said;
  for (const Problem& problem : problems) said.push_back(to_string(problem));
  EXPECT_THAT(said, ElementsAre("a.n: Invalid value: -1: must be greater than or equal to 0",
                                "a.half: Invalid value: 1.5: must be a whole number",
                                "a.big: Invalid value: 1e+30: must be less than or equal to 2147483647",
                                "a.small: Invalid value: -1e+30: must be greater than or equal to -5",
                                "a.s: Invalid type: 7: must be a string, not a number",
                                "a.b: Invalid type: \"yes\": must be true or false, not a string",
                                "a.l[0]: Invalid type: 1: must be a string, not a number",
                                "a.o[1]: Invalid type: 2: must be an object, not a number",
                                "a.w: Unsupported value: \"blue\": supported values: \"red\", \"green\""));
}

TEST(Reader, OfManyProblemsAMessageTellsSomeAndCountsTheOthers) {
  std::vector<Problem> problems(3, {"a", ProblemKind::kRequired, "", "must be specified"});
  EXPECT_EQ(join({problems[0], problems[1]}),
            "a: Required value: must be specified; a: Required value: must be specified");
  problems.resize(100'000, problems[0]);
  std::string text = join(problems);
  EXPECT_LT(text.size(), 5'000u);
  EXPECT_TRUE(text.ends_with("; and 99900 more"));
}

TEST(Reader, ALongValueIsCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "é";
  std::string cut = shown(json::value(text));
  EXPECT_LE(cut.size(), 83u);
  EXPECT_TRUE(cut.ends_with("é..."));
}

TEST(Reader, NumbersInsideListsAreShownAsTheyWereWritten) {
  EXPECT_EQ(shown(json::parse(R"([["--lr",0.1],{"a":2.50,"b":[]},7,null])")),
            R"([["--lr",0.1],{"a":2.5,"b":[]},7,null])");
  std::string deep = std::string(30, '[') + "1" + std::string(30, ']');
  EXPECT_EQ(shown(json::parse(deep)), deep);
  json::array many(40, 0.5);
  EXPECT_EQ(shown(many).substr(76), ",0.5...");
}

}  // namespace
}  // namespace trainyard::dialect
