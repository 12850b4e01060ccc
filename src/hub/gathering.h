// Gathering: for how many answers a commit waits, so that those who write at the same time
// share one. Pure value.
//
// Whoever writes alone never waits: nobody comes while his commit is under way. Where others
// do come, the next commit waits for one more than the last, until that takes too long
// (kGatherMax) or leaves nobody to come meanwhile: then some would stand idle.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace trainyard::hub {

inline constexpr std::chrono::microseconds kGatherMax{500};
inline constexpr size_t kGatherAnswersMax = 64;

class Gathering {
 public:
  // So many answers are worth a commit.
  size_t wanted() const { return wanted_; }

  // A commit for `together` answers has ended, and `meanwhile` wait for the next.
  void on_commit(size_t together, size_t meanwhile) {
    if (together < wanted_) {
      wanted_ = std::max<size_t>(together, 1);
    } else if (meanwhile > 0) {
      wanted_ = std::min(wanted_ + 1, kGatherAnswersMax);
    } else if (wanted_ > 1) {
      --wanted_;
    }
  }

 private:
  size_t wanted_ = 1;
};

}  // namespace trainyard::hub
