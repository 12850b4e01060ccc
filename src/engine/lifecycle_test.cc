// Success, deadline, time to live, pause, cleanup, scaling, services, gang, companions,
// commands, finalizer: each rule in the smallest world that shows it.
#include "engine/testing.h"

namespace trainyard::engine::testing {
namespace {

TEST(Success, ChiefDecides) {
  Yard yard(job({role("chief", 1), role("ps", 1), role("worker", 2)}));
  yard.settle().run_all().end("worker-0", 0);
  EXPECT_EQ(yard.seen.state.phase, Phase::kRunning);
  yard.end("chief-0", 0);
  EXPECT_EQ(yard.show(), "Finished Succeeded | chief-0 Succeeded, worker-0 Succeeded");
}

TEST(Success, WorkerZeroDecidesWithoutAChiefAndWinsOverAFailureBesideIt) {
  Yard yard(job({role("worker", 2)}));
  yard.settle().run_all();
  yard.ends("worker-0", 0);
  yard.ends("worker-1", 1);
  yard.settle();
  EXPECT_EQ(yard.seen.state.result, ResultKind::kSucceeded);
}

TEST(Success, AllWorkers) {
  JobSpec spec = job({role("worker", 2)});
  spec.success = WholeRole{0};
  Yard yard(spec);
  yard.settle().run_all().end("worker-0", 0);
  EXPECT_FALSE(yard.seen.state.finished());
  yard.end("worker-1", 0);
  EXPECT_EQ(yard.seen.state.result, ResultKind::kSucceeded);
}

TEST(Success, TerminalIsTerminal) {
  Yard yard(job({role("worker", 1)}));
  yard.settle().run_all().end("worker-0", 0);
  JobState done = yard.seen.state;
  yard.seen.spec.mode = RunMode::kPause;
  yard.pod("worker-0").phase = PodPhase::kFailed;
  yard.settle();
  EXPECT_EQ(yard.seen.state, done);
}

TEST(Deadline, FiresByItsOwnWakeUp) {
  JobSpec spec = job({role("worker", 1)});
  spec.active_deadline = seconds(10);
  Yard yard(spec);
  yard.settle();
  EXPECT_EQ(yard.last.wake, yard.now + seconds(10));
  yard.run_all().after(seconds(9));
  EXPECT_FALSE(yard.seen.state.finished());
  yard.after(seconds(1));
  EXPECT_EQ(yard.show(), "Finished Failed");
  EXPECT_EQ(yard.seen.state.cause.kind, CauseKind::kDeadline);
}

TEST(Deadline, StartsAnewAfterAResume) {
  JobSpec spec = job({role("worker", 1)});
  spec.active_deadline = seconds(10);
  Yard yard(spec);
  yard.settle().run_all();
  yard.seen.spec.mode = RunMode::kPause;
  yard.settle().after(seconds(100));
  yard.seen.spec.mode = RunMode::kRun;
  yard.settle();
  EXPECT_FALSE(yard.seen.state.finished());
  EXPECT_EQ(yard.last.wake, yard.now + seconds(10));
}

TEST(Ttl, DeletesTheJobOnTime) {
  JobSpec spec = job({role("worker", 1)});
  spec.ttl_after_finished = seconds(60);
  Yard yard(spec);
  yard.settle().run_all().end("worker-0", 0);
  EXPECT_EQ(yard.last.wake, yard.now + seconds(60));
  yard.after(seconds(59));
  EXPECT_FALSE(yard.job_deleted);
  yard.now = yard.now + seconds(1);
  yard.pass();
  EXPECT_TRUE(yard.job_deleted);
}

TEST(Pause, CreatedPausedMakesNothing) {
  JobSpec spec = job({role("worker", 2)});
  spec.mode = RunMode::kPause;
  Yard yard(spec);
  yard.settle();
  EXPECT_EQ(yard.show(), "Paused");
  EXPECT_FALSE(yard.seen.state.started_at);
  EXPECT_TRUE(yard.seen.services.empty());
  yard.seen.spec.mode = RunMode::kRun;
  yard.settle();
  EXPECT_EQ(yard.show(), "Resuming | worker-0 Pending, worker-1 Pending");
  yard.run_all();
  EXPECT_EQ(yard.seen.state.phase, Phase::kRunning);
}

TEST(Pause, ResumeWhilePodsStillEndWaitsForThem) {
  Yard yard(job({role("ps", 1), role("worker", 1)}));
  yard.lingering = true;
  yard.settle().run_all();
  yard.seen.spec.mode = RunMode::kPause;
  yard.settle();
  EXPECT_EQ(yard.show(), "Pausing | ps-0 Running leaving, worker-0 Running leaving");
  EXPECT_TRUE(yard.seen.services.empty());
  yard.seen.spec.mode = RunMode::kRun;
  yard.ends("ps-0", 143);
  yard.settle();
  EXPECT_FALSE(yard.seen.state.finished());
  yard.vanish();
  EXPECT_EQ(yard.show(), "Resuming | ps-0 Pending@1, worker-0 Pending@1");
}

TEST(Pause, KeepsFinishedWhereAskedAndRunsFailedOnesAgain) {
  JobSpec spec = job({role("worker", 3)});
  spec.roles[0].otherwise = {ActionKind::kNone};
  spec.pause.keeps_finished = true;
  spec.success = WholeRole{0};
  Yard yard(spec);
  yard.settle().run_all().end("worker-0", 0).end("worker-1", 1);
  yard.seen.commands.push_back({"abort", "c1", {ActionKind::kAbort}});
  yard.settle();
  EXPECT_EQ(yard.show(), "Paused | worker-0 Succeeded, worker-1 Failed");
  yard.seen.commands.push_back({"resume", "c2", {ActionKind::kResume}});
  yard.settle();
  EXPECT_EQ(yard.show(), "Resuming | worker-0 Succeeded, worker-1 Pending@1, worker-2 Pending@1");
  EXPECT_EQ(yard.seen.state.restarts, 0);
  EXPECT_TRUE(yard.seen.commands.empty());
}

TEST(Commands, TerminateAndRestart) {
  Yard yard(job({role("worker", 2)}));
  yard.settle().run_all();
  yard.seen.commands.push_back({"restart", "c1", {ActionKind::kRestart, Scope::kJob}});
  yard.settle();
  EXPECT_EQ(yard.show(), "Restarting | worker-0 Pending@1, worker-1 Pending@1");
  yard.seen.commands.push_back({"terminate", "c2", {ActionKind::kTerminate}});
  yard.settle();
  EXPECT_EQ(yard.show(), "Finished Terminated");
}

TEST(Commands, ACommandThatCouldNotBeDeletedIsNotCarriedOutTwice) {
  Yard yard(job({role("worker", 1)}));
  yard.settle().run_all();
  CommandSeen restart{"restart", "c1", {ActionKind::kRestart, Scope::kJob}};
  yard.seen.commands.push_back(restart);
  yard.settle().run_all();
  yard.seen.commands.push_back(restart);
  yard.settle();
  EXPECT_EQ(yard.show(), "Running | worker-0 Running@1");
}

TEST(Cleanup, ByPolicy) {
  struct Row {
    Cleanup cleanup;
    const char* left;
    size_t services;
  };
  for (Row row : {Row{Cleanup::kAll, "Finished Succeeded", 0},
                  Row{Cleanup::kUnfinished, "Finished Succeeded | chief-0 Succeeded", 0},
                  Row{Cleanup::kNone, "Finished Succeeded | chief-0 Succeeded, ps-0 Running", 2}}) {
    JobSpec spec = job({role("chief", 1), role("ps", 1)});
    spec.cleanup = row.cleanup;
    Yard yard(spec);
    yard.settle().run_all().end("chief-0", 0);
    EXPECT_EQ(yard.show(), row.left);
    EXPECT_EQ(yard.seen.services.size(), row.services);
  }
}

TEST(Cleanup, AFinishedJobCostsNothing) {
  Yard yard(job({role("worker", 1)}));
  yard.settle().run_all().end("worker-0", 0);
  EXPECT_FALSE(yard.pass());
  EXPECT_FALSE(yard.last.wake);
}

TEST(Scaling, DownDeletesTheHighestUpMakesNew) {
  Yard yard(job({role("worker", 4)}));
  yard.settle().run_all();
  yard.seen.spec.roles[0].replicas = 2;
  yard.seen.spec.running_min = 2;
  yard.settle();
  EXPECT_EQ(yard.show(), "Running | worker-0 Running, worker-1 Running");
  EXPECT_EQ(yard.seen.services.size(), 2u);
  yard.seen.spec.roles[0].replicas = 3;
  yard.seen.spec.running_min = 3;
  yard.settle();
  EXPECT_EQ(yard.show(), "Starting | worker-0 Running, worker-1 Running, worker-2 Pending");
}

TEST(Scaling, PodsOfARemovedRoleGo) {
  Yard yard(job({role("worker", 1), role("evaluator", 1)}));
  yard.settle().run_all();
  yard.seen.spec.roles.pop_back();
  yard.seen.spec.running_min = 1;
  for (PodSeen& pod : yard.seen.pods) {
    if (pod.name == "j-evaluator-0") pod.id = {-1, 0};
  }
  std::sort(yard.seen.pods.begin(), yard.seen.pods.end(),
            [](const PodSeen& a, const PodSeen& b) { return a.id < b.id; });
  for (ServiceSeen& service : yard.seen.services) {
    if (service.name == "j-evaluator-0") service.id = {-1, 0};
  }
  std::sort(yard.seen.services.begin(), yard.seen.services.end(),
            [](const ServiceSeen& a, const ServiceSeen& b) { return a.id < b.id; });
  yard.settle();
  EXPECT_EQ(yard.show(), "Running | worker-0 Running");
  EXPECT_EQ(yard.seen.services.size(), 1u);
}

TEST(Scaling, ALargeJobIsMadeInSeveralPasses) {
  Yard yard(job({role("worker", 400)}));
  yard.pass();
  EXPECT_EQ(yard.last.steps.size(), static_cast<size_t>(kStepsPerPlanMax));
  EXPECT_EQ(yard.last.wake, yard.now);
  yard.settle();
  EXPECT_EQ(yard.seen.pods.size(), 400u);
  EXPECT_EQ(yard.seen.services.size(), 400u);
}

TEST(Services, DeletedOnesComeBack) {
  Yard yard(job({role("worker", 2)}));
  yard.settle().run_all();
  yard.seen.services.erase(yard.seen.services.begin());
  yard.settle();
  EXPECT_EQ(yard.seen.services.size(), 2u);
}

TEST(Gang, PodsWaitUntilItIsLetInAndItGoesAtTheEnd) {
  JobSpec spec = job({role("worker", 2)});
  spec.gang = Gang{};
  spec.gang->name = "g";
  spec.gang->gates_pods = true;
  spec.gang->min_member = 2;
  Yard yard(spec);
  yard.settle();
  EXPECT_EQ(yard.show(), "Queued");
  EXPECT_TRUE(yard.waits(WaitKind::kGangPending));
  EXPECT_FALSE(yard.seen.state.started_at);
  yard.seen.gang->phase = GangPhase::kAdmitted;
  yard.settle();
  EXPECT_EQ(yard.show(), "Starting | worker-0 Pending, worker-1 Pending");
  yard.seen.spec.gang->min_member = 1;
  yard.settle();
  EXPECT_EQ(yard.seen.gang->spec.min_member, 1);
  yard.run_all().end("worker-0", 0);
  EXPECT_FALSE(yard.seen.gang);
}

TEST(Gang, OneThatTheUserMadeIsUsedNotTouched) {
  JobSpec spec = job({role("worker", 1)});
  spec.gang = Gang{};
  spec.gang->name = "theirs";
  spec.gang->min_member = 1;
  Yard yard(spec);
  GangSeen theirs;
  theirs.uid = "x";
  theirs.owned = false;
  theirs.spec.min_member = 6;
  yard.seen.gang = theirs;
  yard.settle().run_all().end("worker-0", 0);
  EXPECT_EQ(yard.seen.gang, theirs);
}

TEST(Companions, AreMadeMendedAndDeleted) {
  JobSpec spec = job({role("worker", 1)});
  spec.companions = {{CompanionKind::kConfigMap, "j-svc", 1, false, false},
                     {CompanionKind::kPersistentVolumeClaim, "j-data", 1, true, false}};
  Yard yard(spec);
  yard.settle().run_all();
  EXPECT_EQ(yard.seen.companions.size(), 2u);
  yard.seen.spec.companions[0].digest = 2;
  yard.log.clear();
  yard.settle();
  EXPECT_EQ(yard.log, std::vector<std::string>{"update configmap j-svc"});
  yard.end("worker-0", 0);
  ASSERT_EQ(yard.seen.companions.size(), 1u);
  EXPECT_EQ(yard.seen.companions[0].name, "j-data");
}

TEST(Companions, PodsWaitForAClaimThatSomebodyMustMake) {
  JobSpec spec = job({role("worker", 1)});
  spec.companions = {{CompanionKind::kPersistentVolumeClaim, "data", 0, true, true}};
  Yard yard(spec);
  yard.settle();
  EXPECT_TRUE(yard.seen.pods.empty());
  EXPECT_TRUE(yard.waits(WaitKind::kCompanion));
}

TEST(DependsOn, WaitsForReadyPods) {
  JobSpec spec = job({role("ps", 2), role("worker", 1)});
  spec.roles[0].min_available = 2;
  spec.roles[0].has_min_available = true;
  spec.roles[1].depends_on.roles = {0};
  Yard yard(spec);
  yard.settle();
  EXPECT_EQ(yard.show(), "Starting | ps-0 Pending, ps-1 Pending");
  EXPECT_TRUE(yard.waits(WaitKind::kDependsOn));
  yard.run_all();
  EXPECT_TRUE(yard.has("worker-0"));
}

TEST(TensorBoard, IsMadeOnceAndSurvivesTheJob) {
  JobSpec spec = job({role("worker", 1)});
  spec.tensorboard = "tb";
  Yard yard(spec);
  yard.settle().run_all().end("worker-0", 0);
  EXPECT_TRUE(yard.seen.tensorboard);
}

TEST(Deletion, NothingIsMadeAndTheFinalizerGoesAfterThePods) {
  JobSpec spec = job({role("worker", 2)});
  spec.holds_deletion = true;
  Yard yard(spec);
  yard.lingering = true;
  yard.settle().run_all();
  EXPECT_TRUE(yard.seen.has_finalizer);
  yard.seen.deleting = true;
  yard.settle();
  EXPECT_TRUE(yard.seen.has_finalizer);
  yard.vanish();
  EXPECT_FALSE(yard.seen.has_finalizer);
  EXPECT_TRUE(yard.seen.pods.empty());
}

TEST(Deletion, WithoutAFinalizerThereIsNothingToDo) {
  Yard yard(job({role("worker", 1)}));
  yard.settle().run_all();
  yard.seen.deleting = true;
  yard.log.clear();
  yard.settle();
  EXPECT_TRUE(yard.log.empty());
}

TEST(Managed, AJobOfSomebodyElseIsLeftAlone) {
  JobSpec spec = job({role("worker", 1)});
  spec.managed = false;
  Yard yard(spec);
  yard.settle();
  EXPECT_TRUE(yard.log.empty());
  EXPECT_TRUE(yard.waits(WaitKind::kNotManaged));
}

TEST(Plan, IsTheSameForTheSameWorld) {
  Yard yard(job({role("chief", 1), role("worker", 3, Policy::kExitCode)}));
  yard.settle().run_all();
  yard.ends("worker-1", 137);
  EXPECT_EQ(plan(yard.seen, yard.now), plan(yard.seen, yard.now));
}

}  // namespace
}  // namespace trainyard::engine::testing
