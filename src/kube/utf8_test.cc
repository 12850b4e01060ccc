#include "kube/utf8.h"

#include <gtest/gtest.h>

namespace trainyard::kube {
namespace {

TEST(Utf8, BytesThatAreNoneAreReplaced) {
  struct Row {
    std::string_view text;
    std::string_view made;
  };
  for (const Row& row :
       {Row{"", ""}, Row{"plain", "plain"}, Row{"\u00E9 \u8BAD \U0001F600", "\u00E9 \u8BAD \U0001F600"},
        Row{"a\xFF"
            "b",
            "a\uFFFD"
            "b"},
        Row{"cut \xC3", "cut \uFFFD"}, Row{"\xE8\xAE", "\uFFFD\uFFFD"}, Row{"\xC0\x80", "\uFFFD\uFFFD"},
        Row{"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"}}) {
    EXPECT_EQ(as_utf8(std::string(row.text)), row.made);
    EXPECT_EQ(is_utf8(row.text), row.text == row.made);
  }
}

TEST(Utf8, EveryTextOfADocument) {
  json::value document{
      {"a", "\xFF"}, {"b", json::array{1, nullptr, json::object{{"c", "x\x80"}}}}, {"d", "\u00E9"}};
  make_utf8(document);
  EXPECT_EQ(document, (json::value{{"a", "\uFFFD"},
                                   {"b", json::array{1, nullptr, json::object{{"c", "x\uFFFD"}}}},
                                   {"d", "\u00E9"}}));
}

TEST(Utf8, ABeginningEndsWithACharacter) {
  EXPECT_EQ(beginning_of("abc", 3), "abc");
  EXPECT_EQ(beginning_of("abcd", 3), "abc...");
  EXPECT_EQ(beginning_of("a\u00E9\u00E9\u00E9", 4), "a\u00E9...");
  EXPECT_EQ(beginning_of("\u8BAD", 2), "...");
}

}  // namespace
}  // namespace trainyard::kube
