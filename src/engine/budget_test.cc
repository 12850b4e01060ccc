#include "engine/testing.h"

namespace trainyard::engine::testing {
namespace {

JobSpec limited(int restarts, Policy policy, int workers = 1) {
  JobSpec spec = job({role("worker", workers, policy)});
  spec.budget.restarts_max = restarts;
  return spec;
}

TEST(Budget, RecreatedPodsAreCountedAndTheLimitHolds) {
  Yard yard(limited(2, Policy::kExitCode));
  yard.settle();
  for (int i = 0; i < 2; ++i) yard.run_all().end("worker-0", 137);
  EXPECT_EQ(yard.show(), "Restarting r=2 | worker-0 Pending@2");
  yard.run_all().end("worker-0", 137);
  EXPECT_EQ(yard.show(), "Finished Failed r=2 | worker-0 Failed@2");
  EXPECT_EQ(yard.seen.state.cause.kind, CauseKind::kBudgetSpent);
  EXPECT_TRUE(yard.seen.state.budget_refused);
}

TEST(Budget, ZeroAllowsNone) {
  Yard yard(limited(0, Policy::kExitCode));
  yard.settle().run_all().end("worker-0", 137);
  EXPECT_EQ(yard.show(), "Finished Failed | worker-0 Failed");
}

TEST(Budget, RestartsInPlaceAreCountedOncePerPodOverAllReplicas) {
  Yard yard(limited(4, Policy::kOnFailure, 2));
  yard.settle().run_all();
  yard.pod("worker-0").restarts = 2;
  yard.settle();
  yard.pod("worker-1").restarts = 1;
  yard.settle().settle();
  EXPECT_EQ(yard.show(), "Running r=3 | worker-0 Running, worker-1 Running");
  yard.evict("worker-0").run_all();  // a new pod starts its own count; ours goes on
  EXPECT_EQ(yard.show(), "Running r=3 | worker-0 Running@1, worker-1 Running");
  yard.pod("worker-0").restarts = 1;
  yard.settle();
  EXPECT_EQ(yard.show(), "Finished Failed r=4");
}

TEST(Budget, ARestartInPlaceIsNotChargedAgainWhenThePodEnds) {
  JobSpec spec = limited(9, Policy::kOnFailure, 2);
  spec.success = WholeRole{0};
  Yard yard(spec);
  yard.settle().run_all();
  yard.pod("worker-1").restarts = 1;
  yard.settle().end("worker-1", 0);
  EXPECT_EQ(yard.show(), "Running r=1 | worker-0 Running, worker-1 Succeeded");
}

TEST(Budget, InPlaceWithLimitZeroEndsAtTheFirst) {
  Yard yard(limited(0, Policy::kOnFailure));
  yard.settle().run_all();
  EXPECT_EQ(yard.seen.state.phase, Phase::kRunning);
  yard.pod("worker-0").restarts = 1;
  yard.settle();
  EXPECT_EQ(yard.seen.state.result, ResultKind::kFailed);
}

TEST(Budget, DisruptionIsNotCharged) {
  Yard yard(limited(0, Policy::kExitCode));
  yard.settle().run_all();
  for (int i = 0; i < 3; ++i) yard.evict("worker-0").run_all();
  EXPECT_EQ(yard.show(), "Running | worker-0 Running@3");
  EXPECT_EQ(yard.seen.state.disruptions, 3);
}

TEST(Budget, SpentForASideReplicaLeavesTheJobRunning) {
  JobSpec spec = limited(0, Policy::kExitCode, 2);
  spec.budget.spent_fails_job = false;
  spec.roles[0].otherwise = {ActionKind::kNone};
  spec.roles[0].otherwise_main = Action{ActionKind::kFail};
  Yard yard(spec);
  yard.settle().run_all().end("worker-1", 137);
  EXPECT_EQ(yard.show(), "Running | worker-0 Running, worker-1 Failed");
  yard.end("worker-0", 137);
  EXPECT_EQ(yard.show(), "Finished Failed | worker-0 Failed, worker-1 Failed");
  EXPECT_EQ(yard.seen.state.cause.kind, CauseKind::kBudgetSpent);
  EXPECT_EQ(yard.seen.state.cause.index, 0);
}

}  // namespace
}  // namespace trainyard::engine::testing
