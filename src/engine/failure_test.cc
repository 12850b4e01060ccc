#include "engine/testing.h"

namespace trainyard::engine::testing {
namespace {

TEST(Failure, NeverFailsTheJobWithTheReplicaThatDidIt) {
  Yard yard(job({role("chief", 1), role("ps", 2)}));
  yard.settle().run_all().end("ps-1", 1);
  EXPECT_EQ(yard.show(), "Finished Failed | ps-1 Failed");
  EXPECT_EQ(yard.seen.state.cause.role, "ps");
  EXPECT_EQ(yard.seen.state.cause.index, 1);
  EXPECT_EQ(yard.seen.state.cause.exit_code, 1);
  EXPECT_EQ(yard.seen.state.cause.failed_count, 1);
  EXPECT_TRUE(yard.told(NoteKind::kJobFailed));
}

TEST(Failure, TerminatingIsNotFailing) {
  Yard yard(job({role("worker", 2)}));
  yard.settle().run_all();
  yard.pod("worker-1").terminating = true;
  yard.settle();
  EXPECT_FALSE(yard.seen.state.finished());
  EXPECT_TRUE(yard.waits(WaitKind::kTerminating));
  yard.ends("worker-1", 143);
  yard.pod("worker-1").phase = PodPhase::kRunning;  // gone before anybody saw it fail
  yard.vanish();
  EXPECT_EQ(yard.show(), "Starting | worker-0 Running, worker-1 Pending");
}

TEST(Failure, EndingWellBecauseOfADeletionIsNoSuccess) {
  Yard yard(job({role("chief", 1), role("worker", 1)}));
  yard.settle().run_all();
  yard.pod("chief-0").terminating = true;
  yard.pod("chief-0").deleted_first = true;
  yard.end("chief-0", 0);
  EXPECT_FALSE(yard.seen.state.finished());
  yard.vanish();
  EXPECT_EQ(yard.show(), "Starting | chief-0 Pending, worker-0 Running");
}

TEST(Failure, EvictedUnderNeverFails) {
  Yard yard(job({role("worker", 1)}));
  yard.settle().run_all().evict("worker-0");
  EXPECT_EQ(yard.seen.state.cause.kind, CauseKind::kReplicaDisrupted);
}

TEST(Failure, ToleratedFailureIsRememberedAndNotRunAgain) {
  JobSpec spec = job({role("worker", 3)});
  spec.roles[0].otherwise = {ActionKind::kNone};
  Yard yard(spec);
  yard.settle().run_all().end("worker-2", 1);
  EXPECT_EQ(yard.show(), "Running | worker-0 Running, worker-1 Running, worker-2 Failed");
  yard.remove("worker-2");
  EXPECT_FALSE(yard.has("worker-2"));
  yard.end("worker-1", 1).end("worker-0", 1);
  EXPECT_EQ(yard.seen.state.cause.kind, CauseKind::kNothingLeft);
}

// Volcano-like tables.
JobSpec ruled(std::vector<Rule> rules, int workers = 2) {
  JobSpec spec = job({role("worker", workers)});
  spec.roles[0].otherwise = {ActionKind::kNone};
  spec.roles[0].rules = std::move(rules);
  spec.success = Tally{{}, workers, true};
  spec.roles[0].min_available = workers;
  spec.pause.keeps_finished = true;
  spec.tells_replica_endings = false;
  return spec;
}

TEST(Rules, FirstMatchDecides) {
  Yard yard(ruled({{{Trigger::kFailed}, {{3, 3}}, {ActionKind::kTerminate}, {}},
                   {{Trigger::kFailed}, {}, {ActionKind::kComplete}, {}}}));
  yard.settle().run_all().end("worker-0", 3);
  EXPECT_EQ(yard.show(), "Finished Terminated | worker-0 Failed");
}

TEST(Rules, CompletingLastsUntilPodsAreGone) {
  Yard yard(ruled({{{Trigger::kFailed}, {}, {ActionKind::kComplete}, {}}}));
  yard.lingering = true;
  yard.settle().run_all().end("worker-0", 3);
  EXPECT_EQ(yard.show(), "Completing Succeeded | worker-0 Failed, worker-1 Running leaving");
  yard.vanish();
  EXPECT_EQ(yard.show(), "Finished Succeeded | worker-0 Failed");
}

TEST(Rules, WithoutAPolicyAFailureEndsNothingUntilAllAreDone) {
  Yard yard(ruled({}));
  yard.settle().run_all().end("worker-0", 1);
  EXPECT_EQ(yard.show(), "Running | worker-0 Failed, worker-1 Running");
  yard.end("worker-1", 0);
  EXPECT_EQ(yard.show(), "Finished Failed | worker-0 Failed, worker-1 Succeeded");
}

TEST(Rules, RoleCompletedFiresOnce) {
  Yard yard(ruled({{{Trigger::kRoleCompleted}, {}, {ActionKind::kAbort}, {}}}, 1));
  yard.seen.spec.roles.push_back(role("ps", 1));
  yard.seen.spec.roles[1].otherwise = {ActionKind::kNone};
  yard.seen.spec.running_min = 2;
  yard.settle().run_all().end("worker-0", 0);
  EXPECT_EQ(yard.show(), "Paused | worker-0 Succeeded");
  yard.seen.commands.push_back({"resume", "c1", {ActionKind::kResume}});
  yard.settle();
  EXPECT_EQ(yard.show(), "Resuming | worker-0 Succeeded, ps-0 Pending@1");
}

TEST(Rules, DelayedActionWaitsOnTheJobAndIsTakenBackByRecovery) {
  std::vector<Rule> rules{{{Trigger::kFailed}, {}, {ActionKind::kRestart, Scope::kJob}, seconds(30)}};
  Yard yard(ruled(rules));
  yard.settle().run_all().end("worker-0", 1);
  EXPECT_EQ(yard.show(), "Running | worker-0 Failed, worker-1 Running");
  EXPECT_EQ(yard.last.wake, yard.now + seconds(30));
  yard.after(seconds(29));
  EXPECT_EQ(yard.seen.state.restarts, 0);
  yard.after(seconds(1));
  EXPECT_EQ(yard.show(), "Restarting r=1 | worker-0 Pending@1, worker-1 Pending@1");
}

// As Volcano has it: there is one delayed action for a pod's name, and another one takes its place.
TEST(Rules, AnotherDelayedActionForAReplicaTakesThePlaceOfTheFirst) {
  Yard yard(
      ruled({{{Trigger::kDisrupted, Trigger::kDeleted}, {}, {ActionKind::kRestart, Scope::kJob}, seconds(30)},
             {{Trigger::kFailed}, {}, {ActionKind::kTerminate}, seconds(60)}}));
  yard.settle().run_all().remove("worker-0");
  yard.after(seconds(10));
  EXPECT_EQ(yard.show(), "Starting | worker-0 Pending@1, worker-1 Running");
  yard.end("worker-0", 2);
  yard.after(seconds(59));
  EXPECT_EQ(yard.seen.state.restarts, 0);
  EXPECT_FALSE(yard.seen.state.finished());
  yard.after(seconds(1));
  EXPECT_EQ(yard.seen.state.result, ResultKind::kTerminated);
}

TEST(Rules, PendingTooLong) {
  Yard yard(ruled({{{Trigger::kPending}, {}, {ActionKind::kTerminate}, seconds(60)}}));
  yard.settle().running("worker-0");
  EXPECT_EQ(yard.last.wake, yard.now + seconds(60));
  yard.after(seconds(60));
  EXPECT_EQ(yard.seen.state.result, ResultKind::kTerminated);
}

TEST(Rules, PendingThatStartedInTimeIsForgotten) {
  Yard yard(ruled({{{Trigger::kPending}, {}, {ActionKind::kTerminate}, seconds(60)}}));
  yard.settle().run_all().after(seconds(100));
  EXPECT_FALSE(yard.seen.state.finished());
}

TEST(Rules, TooManyContainerRestartsOfARole) {
  JobSpec spec = ruled({{{Trigger::kRoleFailed}, {}, {ActionKind::kRestart, Scope::kRole}, {}}});
  spec.roles[0].container_restarts_max = 3;
  Yard yard(spec);
  yard.settle().run_all();
  yard.pod("worker-0").restarts = 2;
  yard.pod("worker-1").restarts = 1;
  yard.settle();
  EXPECT_EQ(yard.show(), "Restarting r=1 | worker-0 Pending@1, worker-1 Pending@1");
}

TEST(Rules, DeletedPodIsAnsweredWhereARuleAsks) {
  Yard yard(ruled({{{Trigger::kDisrupted, Trigger::kDeleted}, {}, {ActionKind::kRestart, Scope::kJob}, {}}}));
  yard.settle().run_all().remove("worker-0");
  EXPECT_EQ(yard.show(), "Restarting | worker-0 Pending@1, worker-1 Pending@1");
  EXPECT_EQ(yard.seen.state.disruptions, 1);
}

TEST(Rules, GangLostIsAnsweredOncePerAttempt) {
  JobSpec spec = ruled({{{Trigger::kGangLost}, {}, {ActionKind::kRestart, Scope::kJob}, {}}});
  spec.gang = Gang{};
  spec.gang->name = "g";
  Yard yard(spec);
  yard.settle().run_all();
  yard.seen.gang->phase = GangPhase::kLost;
  yard.settle();
  EXPECT_EQ(yard.seen.state.restarts, 1);
}

}  // namespace
}  // namespace trainyard::engine::testing
