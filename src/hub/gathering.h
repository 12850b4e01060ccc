// Gathering: for how many answers a commit waits, so that those who write at the same time
// share one. Pure value.
//
// A commit waits for half of those who are there: while one half is written, the other half is
// answered, read and understood, so that neither the disk nor the processors stand idle. Whoever
// writes alone never waits.
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
    wanted_ = std::clamp<size_t>((together + meanwhile + 1) / 2, 1, kGatherAnswersMax);
  }

 private:
  size_t wanted_ = 1;
};

}  // namespace trainyard::hub
