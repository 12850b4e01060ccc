#include "cli/live_screen.h"

#include <fmt/format.h>

namespace trainyard::cli {

std::string LiveScreen::update(const std::string& above, const std::vector<std::string>& block) {
  if (above.empty() && block == shown_) return "";
  std::string out;
  if (!shown_.empty()) out += fmt::format("\x1b[{}A\r\x1b[J", shown_.size());
  out += above;
  // Without wrapping a line of the block is one line of the terminal, however narrow it is.
  out += "\x1b[?7l";
  for (const std::string& line : block) out += line + "\n";
  out += "\x1b[?7h";
  shown_ = block;
  return out;
}

void LiveScreen::release() { shown_.clear(); }

}  // namespace trainyard::cli
