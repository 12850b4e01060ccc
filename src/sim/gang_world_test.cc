#include "sim/gang_world.h"

#include <gtest/gtest.h>

namespace trainyard::sim {
namespace {

constexpr uint64_t kSeeds = 6;

TEST(GangWorld, GangsStartWholeAndEndWhateverHappens) {
  int deaths = 0;
  int64_t evicted = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    GangReport report = run_gangs(seed);
    deaths += report.deaths;
    evicted += report.evicted;
    for (const GangViolation& violation : report.violations) {
      ADD_FAILURE() << "seed " << seed << ", invariant " << violation.invariant << ": " << violation.text;
    }
  }
  // The worlds are as bad as they are meant to be.
  EXPECT_GT(deaths, 6);
  EXPECT_GT(evicted, 0);
}

TEST(GangWorld, TheSameSeedTellsTheSameStory) {
  EXPECT_EQ(run_gangs(3, true).trace, run_gangs(3, true).trace);
  EXPECT_EQ(run_gangs(3).writes, run_gangs(3).writes);
}

}  // namespace
}  // namespace trainyard::sim
