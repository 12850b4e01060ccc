// LiveScreen: a block of lines that stays at the bottom of a terminal while text scrolls by
// above it. Pure but for its memory: it gives the bytes to write.
#pragma once

#include <string>
#include <vector>

namespace trainyard::cli {

class LiveScreen {
 public:
  // What to write so that `above` (whole lines, each ended) scrolls by and `block` is shown
  // below. Nothing when neither is new.
  std::string update(const std::string& above, const std::vector<std::string>& block);
  // Leaves the block where it is and ends there: what follows comes below.
  void release();

 private:
  std::vector<std::string> shown_;
};

}  // namespace trainyard::cli
