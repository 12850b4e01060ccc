#include "tidy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules.h"
#include "unique_names.h"

namespace trainyard::tidy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::filesystem::path kRoot = TRAINYARD_SOURCE_DIR;

TEST(Tidy, TheTreeKeepsTheRules) {
  for (const std::string& finding : check(kRoot)) ADD_FAILURE() << finding;
}

TEST(Tidy, TheBadSampleIsFlagged) {
  EXPECT_THAT(
      check(kRoot / "tests/tidy/bad_sample"),
      ElementsAre(
          "src/engine/README.md:1: 21 lines; a room's README has at most 20",
          "src/engine/bad.cc:1: 96 lines that no test of its room reaches",
          "src/engine/bad.cc:7: 'system_clock': take a Time as a parameter (base/time.h)",
          "src/engine/bad.cc:8: 'rand(': take an Rng (base/rng.h)",
          "src/engine/bad.cc:8: 'rand(': take an Rng (base/rng.h)",
          "src/engine/bad.cc:9: 'getenv': take a setting as a parameter",
          "src/engine/bad.cc:10: 'std::thread': no threads here; control and cli own them",
          "src/engine/bad.cc:11: an unordered container: use std::map or a sorted vector, or say '// never "
          "walked'",
          "src/engine/bad.cc:13: 'printf(': give text back; cli prints",
          "src/engine/bad.cc:14: 'time(nullptr)': take a Time as a parameter (base/time.h)",
          "src/engine/bad.cc:15: 'assert(': use CHECK (base/check.h): it stays on in production",
          "src/engine/bad.cc:16: 'TODO': do it, or leave it out",
          "src/engine/bad.cc:17: code in a comment: delete it",
          "src/engine/bad.cc:18: code in a comment: delete it",
          "src/engine/bad.cc:24: 71 lines; a function has at most 70",
          "src/engine/bad.h:1: a header opens with its contract: what it is, purity, invariants",
          "src/engine/bad.h:1: no #pragma once",
          "src/sim/README.md:1: missing: what lives here, what never does, which file to open first"));
}

TEST(Tidy, ALongFileIsFlagged) {
  std::string text;
  for (int i = 0; i < kFileLinesMax + 1; ++i) text += fmt::format("int a{};\n", i);
  std::vector<Finding> findings;
  SourceFile file{"src/engine/long.cc", text};
  check_sizes(file, take_apart(text), findings);
  EXPECT_THAT(findings, ElementsAre(Finding{"src/engine/long.cc", 1, "601 lines; a file has at most 600"}));
  findings.clear();
  SourceFile test{"src/engine/long_test.cc", text};
  check_sizes(test, take_apart(text), findings);
  EXPECT_THAT(findings, IsEmpty());
}

TEST(Tidy, NamesAreUniqueWithinWhatIsCompiledAsOne) {
  const SourceFile first{"src/engine/a.cc", R"(namespace {
constexpr int kLimit = 3;
struct Row {
  int kLimit;
};
int sum(int a, int b) { return a + b; }
int sum(const Row& row) { return row.kLimit; }
}  // namespace
int told(int a) { return a; }
)"};
  struct NameRow {
    std::string path;
    std::string hidden;
    std::string flagged;
  };
  const NameRow rows[] = {
      {"src/engine/b.cc", "int kLimit{4};", "kLimit"},
      {"src/engine/b.cc", "class Row {\n};", "Row"},
      {"src/engine/b.cc", "using Row = int;", "Row"},
      {"src/engine/b.cc", "int sum(int x, int y) {\n}", "sum(int, int)"},
      {"src/engine/b.cc", "int sum(int x) {\n}", ""},
      {"src/engine/b.cc", "int told(int x) {\n}", "told(int)"},
      {"src/engine/b.cc", "struct Row;", ""},
      {"src/engine/b.cc", "int other = kLimit;", ""},
      {"src/engine/b_test.cc", "int kLimit{4};", ""},
      {"src/store/b.cc", "int kLimit{4};", ""},
  };
  for (const NameRow& row : rows) {
    std::vector<Finding> findings;
    SourceFile second{row.path, "namespace {\n" + row.hidden + "\n}  // namespace\n"};
    check_unique_names({first, second}, findings);
    std::string told =
        row.flagged.empty() ? "" : row.flagged + " is in a.cc too: share it, or give it a name of its own";
    EXPECT_EQ(findings.empty() ? "" : findings.front().text, told) << row.hidden;
  }
}

struct CodeRow {
  const char* comment;
  bool flagged;
};

TEST(Tidy, CodeInACommentIsToldFromWords) {
  for (const CodeRow& row : {
           CodeRow{"// delete_pods(spec, now);", true},
           CodeRow{"// int left = budget - used;", true},
           CodeRow{"// return left;", true},
           CodeRow{"// if (left > 0) {", true},
           CodeRow{"// }", true},
           CodeRow{"// #include \"a.h\"", true},
           CodeRow{"// Pods are sorted by id; foreign objects are left out;", false},
           CodeRow{"// The budget (all roles together);", false},
           CodeRow{"//   Reader spec = Reader::root(object, problems);", false},
           CodeRow{"// for a person to read", false},
           CodeRow{"// returns nothing; never throws", false},
       }) {
    std::vector<Finding> findings;
    SourceFile file{"src/engine/a.cc", std::string(row.comment) + "\n"};
    check_comments(file, take_apart(file.text), findings);
    EXPECT_EQ(!findings.empty(), row.flagged) << row.comment;
  }
}

TEST(SourceText, FunctionsAreFoundWhereverTheyStand) {
  SourceText parts = take_apart(R"(namespace a {
struct S {
  int f() const { return 1; }
  S(int x)
      : x_{x} {
    use("}");
  }
};
constexpr int kTable[] = {
    1, 2,
};
std::vector<int> g(int n) {
  // a brace in a comment: }
  auto inner = [&] { return '}'; };
  return {n};
}
}  // namespace a
)");
  std::string seen;
  for (const FunctionSpan& f : parts.functions()) seen += fmt::format("{}+{} ", f.first_line, f.line_count);
  EXPECT_EQ(seen, "3+1 4+2 5+3 12+5 ");
}

}  // namespace
}  // namespace trainyard::tidy
