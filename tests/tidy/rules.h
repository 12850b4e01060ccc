// The rules of docs/STYLE.md that a program can check, as data and small functions.
// Each function looks at one file and answers with what is wrong in it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "source_text.h"

namespace trainyard::tidy {

inline constexpr int kFunctionLinesMax = 70;
inline constexpr int kFileLinesMax = 600;
inline constexpr int kReadmeLinesMax = 20;
inline constexpr int kUntestedLinesMax = 80;

struct Finding {
  std::string path;
  int line = 0;
  std::string text;

  auto operator<=>(const Finding&) const = default;
};

struct SourceFile {
  std::string path;  // "src/engine/plan.cc"
  std::string text;

  bool header() const { return path.ends_with(".h"); }
  bool test() const { return path.ends_with("_test.cc") || path.starts_with("tests/"); }
  bool fuzz() const { return path.ends_with("_fuzz.cc"); }
};

// Whether the path lies in a room that may have no clock, thread, I/O or chance.
bool in_pure_room(std::string_view path);

void check_banned_words(const SourceFile& file, const SourceText& parts, std::vector<Finding>& findings);
void check_sizes(const SourceFile& file, const SourceText& parts, std::vector<Finding>& findings);
void check_header(const SourceFile& file, const SourceText& parts, std::vector<Finding>& findings);
void check_comments(const SourceFile& file, const SourceText& parts, std::vector<Finding>& findings);

}  // namespace trainyard::tidy
