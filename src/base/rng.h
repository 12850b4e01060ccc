// Rng: a small seeded generator (splitmix64). Same seed, same numbers, on every
// machine and compiler: std distributions are not used because theirs may differ.
#pragma once

#include <cstdint>

#include "base/check.h"

namespace trainyard {

class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // A number in [0, bound). REQUIRES: bound > 0.
  uint64_t below(uint64_t bound) {
    CHECK(bound > 0);
    return next() % bound;
  }
  // A number in [low, high], both included.
  int64_t between(int64_t low, int64_t high) {
    CHECK(low <= high);
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1));
  }
  // True `percent` times out of a hundred.
  bool chance(unsigned percent) { return below(100) < percent; }
  // An independent generator, so that one stream's length never shifts another's.
  Rng fork() { return Rng(next()); }

 private:
  uint64_t state_;
};

}  // namespace trainyard
