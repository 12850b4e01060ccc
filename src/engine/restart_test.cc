#include "engine/testing.h"

namespace trainyard::engine::testing {
namespace {

TEST(Restart, ExitCodeRetriesSignalsAndFailsOnPlainCodes) {
  struct Row {
    int code;
    bool again;
  };
  for (Row row : {Row{1, false},
                  {2, false},
                  {3, false},
                  {42, true},
                  {126, false},
                  {127, false},
                  {128, false},
                  {130, true},
                  {137, true},
                  {138, true},
                  {139, false},
                  {143, true},
                  {255, true}}) {
    Yard yard(job({role("worker", 2, Policy::kExitCode)}));
    yard.settle().run_all().end("worker-1", row.code);
    EXPECT_EQ(yard.show(), row.again ? "Restarting r=1 | worker-0 Running, worker-1 Pending@1"
                                     : "Finished Failed | worker-1 Failed")
        << row.code;
  }
}

TEST(Restart, IsWrittenBeforeThePodIsDeletedAndThePodIsMadeLast) {
  Yard yard(job({role("worker", 1, Policy::kExitCode)}));
  yard.settle().run_all();
  yard.log.clear();
  yard.end("worker-0", 137);
  EXPECT_EQ(yard.log, (std::vector<std::string>{"write", "delete pod j-worker-0",
                                                "create pod j-worker-0 (attempt 1)", "write"}));
}

TEST(Restart, SucceededReplicaIsNeverRunAgain) {
  Yard yard(job({role("chief", 1), role("worker", 2, Policy::kOnFailure)}));
  yard.settle().run_all().end("worker-0", 0);
  yard.remove("worker-0");  // garbage collected
  EXPECT_FALSE(yard.has("worker-0"));
  yard.end("worker-1", 9);
  EXPECT_FALSE(yard.has("worker-0"));
  EXPECT_TRUE(yard.has("worker-1"));
}

TEST(Restart, SuccessSeenOnlyInThePodsLastBreathCounts) {
  Yard yard(job({role("chief", 1), role("worker", 1)}));
  yard.settle().run_all();
  yard.ends("worker-0", 0);
  yard.remove("worker-0");
  EXPECT_FALSE(yard.has("worker-0"));
}

TEST(Restart, JobScopeChargesOnceAndNamesTheFirstToFail) {
  Yard yard(job({role("worker", 3, Policy::kExitCode, Scope::kJob)}));
  yard.lingering = true;
  yard.settle().run_all();
  yard.ends("worker-2", 137);
  yard.now = yard.now + seconds(2);
  yard.ends("worker-0", 1);  // dies of its peer's death
  yard.settle();
  EXPECT_EQ(yard.seen.state.restarts, 1);
  EXPECT_EQ(yard.seen.state.cause.role, "worker");
  EXPECT_EQ(yard.seen.state.cause.index, 2);
  EXPECT_EQ(yard.seen.state.cause.exit_code, 137);
  yard.end("worker-1", 1);  // a survivor, while the restart goes on: counts for nothing
  EXPECT_EQ(yard.show(),
            "Restarting r=1 | worker-0 Failed leaving, worker-1 Failed leaving, worker-2 Failed leaving");
  EXPECT_TRUE(yard.waits(WaitKind::kOldPods));
  yard.vanish();
  EXPECT_EQ(yard.show(), "Restarting r=1 | worker-0 Pending@1, worker-1 Pending@1, worker-2 Pending@1");
}

TEST(Restart, InTheSameSecondASignalIsTheCauseNotThePeersPlainCode) {
  Yard yard(job({role("worker", 2, Policy::kExitCode, Scope::kJob)}));
  yard.settle().run_all();
  yard.ends("worker-0", 1);
  yard.ends("worker-1", 137);
  yard.settle();
  EXPECT_EQ(yard.seen.state.cause.index, 1);
  EXPECT_FALSE(yard.seen.state.finished());
}

TEST(Restart, JobScopeRestartsPeersOfADeletedPodToo) {
  Yard yard(job({role("worker", 2, Policy::kExitCode, Scope::kJob)}));
  yard.settle().run_all().remove("worker-1");
  EXPECT_EQ(yard.show(), "Restarting | worker-0 Pending@1, worker-1 Pending@1");
  EXPECT_EQ(yard.seen.state.restarts, 0);
}

TEST(Restart, RoleScopeLeavesOtherRolesAlone) {
  Yard yard(job({role("ps", 1, Policy::kExitCode), role("worker", 2, Policy::kExitCode, Scope::kRole)}));
  yard.lingering = true;
  yard.settle().run_all().end("worker-1", 137);
  yard.vanish();
  EXPECT_EQ(yard.show(), "Restarting r=1 | ps-0 Running, worker-0 Pending@1, worker-1 Pending@1");
}

TEST(Restart, PartitionScopeTakesItsNeighbours) {
  JobSpec spec = job({role("worker", 4, Policy::kExitCode, Scope::kPartition)});
  spec.roles[0].partition_size = 2;
  Yard yard(spec);
  yard.settle().run_all().end("worker-2", 137);
  EXPECT_EQ(yard.show(),
            "Restarting r=1 | worker-0 Running, worker-1 Running, worker-2 Pending@1, worker-3 Pending@1");
}

TEST(Restart, RunsForeverStartsAgainAfterSuccess) {
  JobSpec spec = job({role("worker", 2, Policy::kExitCode)});
  spec.success = MainReplica{{0, 0}, false};
  spec.roles[0].runs_forever = true;
  spec.budget.restarts_max = 1;
  Yard yard(spec);
  yard.settle().run_all().end("worker-1", 0);
  EXPECT_EQ(yard.show(), "Restarting r=1 | worker-0 Running, worker-1 Pending@1");
  yard.run_all().end("worker-1", 0);
  EXPECT_EQ(yard.seen.state.cause.kind, CauseKind::kBudgetSpent);
}

TEST(Restart, TheMainReplicasSuccessIsTheJobsEvenIfItsRoleRunsForever) {
  JobSpec spec = job({role("worker", 2, Policy::kExitCode)});
  spec.roles[0].runs_forever = true;
  Yard yard(spec);
  yard.settle().run_all().end("worker-0", 0);
  EXPECT_EQ(yard.seen.state.result, ResultKind::kSucceeded);
}

TEST(Restart, TheSuccessOfAWholeRoleIsTheJobsEvenIfItRunsForever) {
  JobSpec spec = job({role("worker", 2, Policy::kExitCode)});
  spec.success = WholeRole{0};
  spec.roles[0].runs_forever = true;
  Yard yard(spec);
  yard.settle().run_all().end("worker-1", 0);
  EXPECT_EQ(yard.show(), "Running | worker-0 Running, worker-1 Succeeded");
  yard.end("worker-0", 0);
  EXPECT_EQ(yard.seen.state.result, ResultKind::kSucceeded);
}

}  // namespace
}  // namespace trainyard::engine::testing
