#include "sim/world.h"

#include <gtest/gtest.h>

#include "sim/explore.h"
#include "sim/run.h"

namespace trainyard::sim {
namespace {

TEST(World, OneSeedTellsOneStory) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const RunReport once = run_seed({.seed = seed, .trace = true});
    const RunReport again = run_seed({.seed = seed, .trace = true});
    EXPECT_EQ(once.trace, again.trace) << seed;
    EXPECT_EQ(once.revisions, again.revisions) << seed;
  }
}

TEST(World, TellingTheStoryChangesNothing) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const RunReport told = run_seed({.seed = seed, .trace = true});
    const RunReport silent = run_seed({.seed = seed});
    EXPECT_TRUE(silent.trace.empty());
    EXPECT_EQ(told.revisions, silent.revisions) << seed;
    EXPECT_EQ(told.operator_writes, silent.operator_writes) << seed;
  }
}

TEST(World, ManyRunTheSameOnAnyNumberOfThreads) {
  const ManyReport one = run_many(1, 60, 1);
  const ManyReport two = run_many(1, 60, 2);
  EXPECT_EQ(one.failed, two.failed);
  EXPECT_EQ(one.revisions, two.revisions);
}

// Each of these once broke something: a queue that was closed to what it had begun; a list that was thrown
// away and taken for seen; a gang that left whole and came back and was held to have left in part; a pod that
// was gone before it was seen and not made again; a watch that waited for a clock which had been set back;
// twice what was given to a job that ended later, and kept it; a status that was written before an edit and
// found after it; what had ended well before the policy was Always; a gang that grew while it was bound;
// a lead that was lost in the middle of a gang.
TEST(World, SeedsThatOnceBrokeSomething) {
  for (const uint64_t seed : {1795025210754, 1795054780984, 1795054780997, 1795054972059, 1795054905358,
                              1795054942504, 1795054856616, 2795054947280, 2795054955056, 2795054971700,
                              3795054824136, 1795056877694, 4795060047854}) {
    const RunReport report = run_seed({.seed = seed, .trace = true});
    EXPECT_TRUE(report.violations.empty()) << to_string(report);
  }
}

TEST(World, AFailureIsToldWithSeedCheckerAndStory) {
  RunReport report = run_seed({.seed = 3, .trace = true});
  report.violations.push_back(
      {4, "terminal-is-terminal", "train had failed and is now going on", Time{0}, 17});
  const std::string text = to_string(report);
  EXPECT_NE(text.find("seed 3: "), std::string::npos);
  EXPECT_NE(text.find("operator-0"), std::string::npos);
  EXPECT_NE(text.find("BROKEN invariant 4 (terminal-is-terminal) at revision 17"), std::string::npos);
}

// Every single write of every small world, struck in every way.
class Scenarios : public ::testing::TestWithParam<Scenario> {};

TEST_P(Scenarios, EndTheSameWhateverStrikes) {
  const Exploration exploration = explore(GetParam());
  EXPECT_GT(exploration.operator_writes, 0);
  const bool crowded = !parse_script(GetParam().text).yard.empty();
  EXPECT_EQ(exploration.scheduler_writes > 0, crowded);
  EXPECT_EQ(exploration.runs, 1 + 6 * (exploration.operator_writes + exploration.scheduler_writes));
  for (const Finding& finding : exploration.findings) ADD_FAILURE() << to_string(finding);
}

INSTANTIATE_TEST_SUITE_P(All, Scenarios, ::testing::ValuesIn(scenarios()), [](const auto& info) {
  std::string name(info.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace trainyard::sim
