#include "server/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::server {
namespace {

TEST(Pattern, IsLookedForAnywhere) {
  struct Row {
    std::string_view pattern, text;
    std::optional<bool> expected;
  };
  for (const Row& row : {
           Row{"b", "abc", true},
           Row{"^b", "abc", false},
           Row{"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-b", true},
           Row{"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-", false},
           Row{"^a$", "b\na", false},
           Row{"^a$", "a\n", false},
           Row{"^a.b$", "a\nb", false},
           Row{"^(?i)abc$", "ABC", true},
           Row{R"(^\d+(\.\d+)?$)", "12.5", true},
           Row{"", "", true},
           Row{"(", "a", std::nullopt},
       }) {
    EXPECT_EQ(has_pattern(row.text, row.pattern), row.expected) << row.pattern << " in " << row.text;
  }
}

TEST(Pattern, GivesUpInTime) {
  const std::string text(50'000, 'a');
  EXPECT_NE(has_pattern(text + "b", "^(a|aa|a*)*c$"), true);
  EXPECT_EQ(has_pattern(text, "^[a-z]*$"), true);
}

}  // namespace
}  // namespace trainyard::server
