#include "kube/json_text.h"

#include <gtest/gtest.h>

namespace trainyard::kube {
namespace {

TEST(JsonText, AStringEndsWhereItsMarkIsNotEscaped) {
  struct Row {
    std::string_view text;
    size_t end;
  };
  for (const Row& row : {Row{R"("")", 2}, Row{R"("a"b")", 3}, Row{R"("\"")", 4}, Row{R"("\\"x")", 4},
                         Row{R"("a\\\"b"c)", 8}, Row{R"(")", std::string_view::npos},
                         Row{R"("a\")", std::string_view::npos}, Row{R"("\\\")", std::string_view::npos}}) {
    EXPECT_EQ(end_of_string(row.text, 0), row.end) << row.text;
  }
}

}  // namespace
}  // namespace trainyard::kube
