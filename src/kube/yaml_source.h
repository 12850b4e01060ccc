// The text of a YAML file before it is parsed: what can be refused at once, and where in
// it things are. For yaml_read.cc alone; pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/yaml.h"

namespace trainyard::kube {

// Leaves the parser when the input is at fault; never leaves parse_yaml.
struct Refusal {
  Position at;
  std::string why;
};

// A text written as an indented block under "|" or ">".
struct BlockScalar {
  // The line and the column of a tab where the indentation is still to be found out; line -1: none.
  int tab_line = -1;
  int tab_column = 0;
  // With "+", which keeps the line breaks at the end: how many there are.
  std::optional<size_t> kept_breaks;
};

// The text by lines, to say where things are. Lines and columns it is asked about count
// from 0 and in bytes, as yaml-cpp does; places it tells count from 1 and in characters.
class Source {
 public:
  explicit Source(std::string_view text);

  std::string_view line(int number) const;
  // Whether this character stands at the place.
  bool begins_at(int line_number, int column, char what) const;
  Position place(int line_number, int column) const;
  Position place_of_byte(size_t at) const;
  // The column of a tab in what a line begins with, white space and the "-" of entries, before
  // `column`; -1 when none.
  int tab_in_indentation(int line_number, int column) const;
  // Whether a document may begin on this line: it says "---" or the one before ended with "...".
  bool begins_document(int line_number) const;
  // Whether the quoted scalar at this place, after its tag and anchor, never ends.
  bool has_open_quotation(int line_number, int column) const;
  // The block scalar at this place, after its tag and anchor. `outside` is the column of the list or
  // map that it stands in.
  std::optional<BlockScalar> block_scalar(int line_number, int column, int outside) const;
  // The bracket of the list or map in flow style at this place, if nothing closes it: '[' or '{'.
  std::optional<char> open_bracket(int line_number, int column) const;

 private:
  // The byte after the tag and the anchor at `at`, where the value begins.
  size_t after_properties(size_t at) const;
  size_t byte_of(int line_number, int column) const;
  // Where the quotation that begins at `at` ends: the byte after it, or the end of the text; and
  // whether it ends at all.
  size_t end_of_quotation(size_t at, bool& closed) const;

  std::string_view text_;
  std::vector<size_t> starts_;
  mutable int last_line_ = -1;
  mutable size_t last_bytes_ = 0;
  mutable int last_chars_ = 0;
};

// Throws a Refusal for text that is not UTF-8, holds characters YAML does not allow, or opens
// so many brackets that scanning it would cost too much memory.
void check_text(std::string_view text, const Source& source);

bool looks_like_json(std::string_view text);
// JSON writes characters beyond 16 bits as two escapes, YAML as one: joins the two.
std::string join_surrogate_escapes(std::string_view text);

}  // namespace trainyard::kube
