// Console: where a command reads from and writes to. Answers go to `out`, complaints to
// `err`. Handed to every command, so that tests give it strings.
#pragma once

#include <istream>
#include <ostream>

namespace trainyard::cli {

struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool bold = false;      // headings and colours; only when `out` is a terminal
  bool terminal = false;  // `out` is one: what is shown may be redrawn
};

}  // namespace trainyard::cli
