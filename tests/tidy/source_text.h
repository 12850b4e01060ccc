// SourceText: a C++ file taken apart into what is code and what is comment, line by
// line, and the functions in it. A rough reading that knows nothing of types: good
// enough to count lines and look for words. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::tidy {

struct SourceLine {
  std::string code;     // without comments; the contents of strings are blanked
  std::string comment;  // of a // comment, from the slashes on; "" when there is none
};

struct FunctionSpan {
  std::string head;  // the first line of it, trimmed
  int first_line = 0;
  int line_count = 0;
};

struct SourceText {
  std::vector<SourceLine> lines;

  std::vector<FunctionSpan> functions() const;
};

SourceText take_apart(std::string_view text);

}  // namespace trainyard::tidy
