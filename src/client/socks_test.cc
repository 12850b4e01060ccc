#include "client/socks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::client {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

// Both sides of a dialogue, in turn: what we say, what the proxy says, and so on.
void expect_dialogue(SocksDialogue dialogue, const std::vector<std::string>& words) {
  std::string said = dialogue.begin().value();
  for (size_t i = 0; i < words.size(); i += 2) {
    EXPECT_EQ(said, words[i]) << i;
    said.clear();
    std::string_view rest = words.at(i + 1);
    while (!rest.empty()) {
      ASSERT_LE(dialogue.wanted(), rest.size()) << i;
      std::string_view heard = rest.substr(0, dialogue.wanted());
      rest.remove_prefix(heard.size());
      Result<std::string> answer = dialogue.hear(heard);
      ASSERT_TRUE(answer.ok()) << answer.error().message;
      said += *answer;
    }
  }
  EXPECT_EQ(said, "");
  EXPECT_TRUE(dialogue.is_done());
}

TEST(Socks, ANameIsLookedUpByTheProxy) {
  expect_dialogue({"", "api.example", 6443},
                  {"\5\1\0"s, "\5\0"s, "\5\1\0\3\13api.example\x19\x2b"s, "\5\0\0\1\12\0\0\1\x1f\x90"s});
}

TEST(Socks, AddressesAreToldAsSuch) {
  expect_dialogue({"", "10.0.0.1", 443}, {"\5\1\0"s, "\5\0"s, "\5\1\0\1\12\0\0\1\1\xbb"s,
                                          "\5\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\1"s});
  expect_dialogue({"", "::1", 443}, {"\5\1\0"s, "\5\0"s, "\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\1\xbb"s,
                                     "\5\0\0\3\4name\0\1"s});
}

TEST(Socks, NameAndPasswordAreToldWhenTheyAreWanted) {
  expect_dialogue({"me:p:w", "a", 1},
                  {"\5\2\0\2"s, "\5\2"s, "\1\2me\3p:w"s, "\1\0"s, "\5\1\0\3\1a\0\1"s, "\5\0\0\3\0\0\0"s});
  expect_dialogue({"me:", "a", 1}, {"\5\2\0\2"s, "\5\0"s, "\5\1\0\3\1a\0\1"s, "\5\0\0\1\0\0\0\0\0\0"s});
}

TEST(Socks, RefusalsAreTold) {
  struct Row {
    std::string_view user_info;
    std::vector<std::string> heard;
    std::string_view says;
  };
  for (const Row& row : {
           Row{"", {"\5\xff"s}, "it wants a name and a password"},
           Row{"me:x", {"\5\xff"s}, "it takes no name and password"},
           Row{"", {"\5\2"s}, "it wants a name and a password"},
           Row{"", {"HT"s}, "it speaks something else"},
           Row{"me:x", {"\5\2"s, "\1\1"s}, "it does not know the name and password"},
           Row{"", {"\5\0"s, "\5\5\0\1\0"s}, "the connection was refused"},
           Row{"", {"\5\0"s, "\5\x63\0\1\0"s}, "it does not say why"},
           Row{"", {"\5\0"s, "\5\0\0\7\0"s}, "it speaks something else"},
       }) {
    SocksDialogue dialogue(row.user_info, "a", 1);
    Result<std::string> answer = dialogue.begin();
    for (const std::string& heard : row.heard) {
      ASSERT_TRUE(answer.ok());
      answer = dialogue.hear(heard);
    }
    ASSERT_FALSE(answer.ok()) << row.says;
    EXPECT_THAT(answer.error().message, HasSubstr(row.says));
    EXPECT_FALSE(dialogue.is_done());
  }
  EXPECT_FALSE(SocksDialogue("", std::string(256, 'a'), 1).begin().ok());
}

}  // namespace
}  // namespace trainyard::client
