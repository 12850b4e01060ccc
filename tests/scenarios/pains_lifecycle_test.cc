// What users of Kubeflow's operator complain about, pains 1-20: that a job ends when it
// should, and only then. One named regression test each; P with the number of the pain.
#include <gtest/gtest.h>

#include "kube/access.h"
#include "words.h"
#include "yard.h"

namespace trainyard::scenarios {
namespace {

using model::WaitKind;

constexpr std::string_view kBackoffText =
    "True TFJobFailed: Job j has failed because it has reached the specified backoff limit";

// trainer 3358
TEST(Pain, P01_ActiveDeadlineFiresWithoutAnotherEvent) {
  Yard yard;
  yard.submit(tfjob("Worker 2", "activeDeadlineSeconds: 3600")).let("* Running");
  EXPECT_EQ(*yard.plan().wake - yard.now, seconds(3600));
  yard.after(3599);
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  yard.after(1);
  EXPECT_EQ(yard.condition("Failed"),
            "True TFJobFailed: Job j has failed because it was active longer than specified deadline");
}

// The timer is not lost with the operator that armed it.
TEST(Pain, P01_ActiveDeadlineOutlivesTheOperator) {
  Yard yard;
  yard.submit(tfjob("Worker 1", "activeDeadlineSeconds: 60")).let("* Running").after(59);
  yard.restart_operator().after(1);
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Failed=True");
}

// trainer 2045, common 167
TEST(Pain, P02_ExitCodeRetriesCountAgainstBackoffLimit) {
  Yard yard;
  yard.submit(tfjob("Worker 2 ExitCode", "backoffLimit: 2")).let("* Running");
  yard.let("worker-1 Failed 137").let("worker-1 Running");
  yard.let("worker-1 Failed 137").let("worker-1 Running");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  yard.let("worker-1 Failed 137");
  EXPECT_EQ(yard.condition("Failed"), kBackoffText);
  EXPECT_EQ(yard.pods(), "worker-1 Failed(137)@2");
}

// trainer 2342, 1589: restarts of all replicas, in place or made again, are one number that
// neither a new pod nor a new operator sets back.
TEST(Pain, P03_BackoffLimitCountsEveryRestartOfEveryReplica) {
  Yard yard;
  yard.submit(tfjob("Worker 2 OnFailure, PS 1 ExitCode", "backoffLimit: 4")).let("* Running");
  yard.let("worker-0 Restarted 1");
  yard.let("ps-0 Failed 137").let("ps-0 Running");
  yard.let("worker-1 Failed 1").let("worker-1 Running");
  yard.restart_operator();
  yard.let("worker-0 Restarted 1");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  yard.let("worker-0 Restarted 2");
  EXPECT_EQ(yard.condition("Failed"), kBackoffText);
}

// trainer 2124
TEST(Pain, P04_ATerminatingWorkerDoesNotFailTheJob) {
  for (std::string_view policy : {"OnFailure", "Always", "ExitCode", "Never"}) {
    SCOPED_TRACE(policy);
    Yard yard;
    yard.submit(tfjob("Worker 2 " + std::string(policy))).let("* Running").let("worker-1 leaves");
    EXPECT_EQ(yard.condition("Failed"), "");
    EXPECT_EQ(yard.waits(WaitKind::kTerminating),
              "j-worker-1 is being deleted; it is made again when it is gone");
    yard.let("worker-1 gone").let("worker-1 Running");
    EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  }
}

// trainer 1560, common 186: the kill that belongs to a deletion is nobody's failure.
TEST(Pain, P05_DeletingAnExitCodePodIsNoFailure) {
  Yard yard;
  yard.submit(tfjob("Worker 2 ExitCode", "backoffLimit: 0")).let("* Running");
  yard.let("worker-1 leaves").let("worker-1 Failed 137").let("worker-1 gone");
  EXPECT_EQ(yard.condition("Failed"), "");
  EXPECT_EQ(yard.pods(), "worker-0 Running, worker-1 Pending@1");
  yard.let("worker-1 Running");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
}

// trainer 1186
TEST(Pain, P06_ACompletedPodThatIsCollectedAtOnceIsNotRunAgain) {
  Yard yard;
  yard.submit(tfjob("Chief 1, Worker 2")).let("* Running").let("worker-1 dies 0");
  EXPECT_EQ(yard.pods(), "chief-0 Running, worker-0 Running");
  EXPECT_EQ(yard.replicas(), "Chief active=1, Worker active=1 succeeded=1");
  yard.let("chief-0 dies 0");
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Succeeded=True");
}

// trainer 1997
TEST(Pain, P07_ACompletedWorkerIsNotRunAgainWhileTheChiefRuns) {
  Yard yard;
  yard.submit(tfjob("Chief 1, Worker 2")).let("* Running").let("worker-1 Succeeded");
  yard.let("worker-1 gone").restart_operator().after(3600);
  EXPECT_EQ(yard.pods(), "chief-0 Running, worker-0 Running");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
}

// arena 1370
TEST(Pain, P08_AJobWhoseSucceededPodsAreCollectedStillEnds) {
  Yard yard;
  yard.submit(tfjob("Worker 3", "", "successPolicy: AllWorkers")).let("* Running");
  yard.let("worker-0 Succeeded; worker-1 Succeeded").let("worker-0 gone; worker-1 gone").restart_operator();
  yard.let("worker-2 Succeeded");
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Succeeded=True");
  EXPECT_EQ(yard.replicas(), "Worker succeeded=3");
}

// trainer 2072: nothing is deleted by force, but the job says what it waits for and its
// deadline still ends it.
TEST(Pain, P09_APodThatNeverGoesIsNamedAndBounded) {
  Yard yard;
  yard.submit(tfjob("Worker 2 OnFailure", "activeDeadlineSeconds: 600")).let("* Running");
  yard.let("worker-1 leaves").after(300);
  EXPECT_EQ(yard.waits(WaitKind::kTerminating),
            "j-worker-1 is being deleted; it is made again when it is gone");
  yard.after(300);
  EXPECT_EQ(yard.condition("Failed"),
            "True TFJobFailed: Job j has failed because it was active longer than specified deadline");
}

// trainer 720, 956, 959
TEST(Pain, P10_APodLostWithItsNodeIsReplaced) {
  Yard yard;
  yard.submit(tfjob("Worker 2 OnFailure", "backoffLimit: 1")).let("* Running").let("worker-1 Unknown");
  EXPECT_EQ(yard.pods(), "worker-0 Running, worker-1 Unknown");
  yard.let("worker-1 NodeLost");
  EXPECT_EQ(yard.pods(), "worker-0 Running, worker-1 Pending@1");
  EXPECT_EQ(yard.conditions(), "Created=True Restarting=True");
  yard.let("worker-1 Running");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  EXPECT_EQ(yard.events("Disrupted"), "Warning ReplicaDisrupted: Pod: ns.j-worker-1 was disrupted");
}

// trainer 1282
TEST(Pain, P11_ALongPendingPodIsExplainedAndBounded) {
  Yard yard;
  yard.submit(tfjob("Worker 2", "activeDeadlineSeconds: 600")).let("worker-0 Running");
  yard.let("worker-1 Pending ImagePullBackOff");
  EXPECT_EQ(yard.waits(WaitKind::kNotStarted),
            "1 of 2 replicas have started; j-worker-1 has not: ImagePullBackOff");
  yard.after(600);
  EXPECT_EQ(yard.conditions(), "Created=True Failed=True");
}

// trainer 948
TEST(Pain, P12_RunningMeansThatAllReplicasRun) {
  Yard yard;
  yard.submit(tfjob("Chief 1, Worker 2, PS 1")).let("chief-0 Running; worker-* Running");
  EXPECT_EQ(yard.conditions(), "Created=True");
  yard.let("ps-0 Running");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
}

// trainer 881
TEST(Pain, P13_AFailedParameterServerFailsTheJob) {
  Yard yard;
  yard.submit(tfjob("Chief 1, Worker 2, PS 2")).let("* Running").let("ps-1 Failed 1");
  EXPECT_EQ(yard.condition("Failed"),
            "True TFJobFailed: TFJob ns/j has failed because 1 PS replica(s) failed.");
}

// trainer 1045, kubeflow 4186
TEST(Pain, P14_AnEvaluatorDoesNotKeepAFinishedJobAlive) {
  Yard yard;
  yard.submit(tfjob("Chief 1, Worker 1, Evaluator 1 Always")).let("* Running");
  yard.let("evaluator-0 Restarted 3").let("chief-0 Succeeded");
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Succeeded=True");
  EXPECT_EQ(yard.pods(), "chief-0 Succeeded");
}

// trainer 3419, 4063
TEST(Pain, P15_CleanPodPolicyHoldsOnTheBackoffLimitToo) {
  Yard none;
  none.submit(tfjob("Worker 2 ExitCode", "backoffLimit: 0, cleanPodPolicy: None")).let("* Running");
  none.let("worker-1 Failed 137");
  EXPECT_EQ(none.condition("Failed"), kBackoffText);
  EXPECT_EQ(none.pods(), "worker-0 Running, worker-1 Failed(137)");

  Yard running;
  running.submit(tfjob("Worker 2 ExitCode", "backoffLimit: 0, cleanPodPolicy: Running")).let("* Running");
  running.let("worker-1 Failed 137").after(3600);
  EXPECT_EQ(running.pods(), "worker-1 Failed(137)");
}

// trainer 1191: also when no pod is left to go with them.
TEST(Pain, P16_ServicesGoWhenTheJobIsDone) {
  Yard yard;
  yard.submit(tfjob("Worker 2")).let("* Running").let("worker-0 dies 0; worker-1 dies 0");
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Succeeded=True");
  EXPECT_EQ(yard.services(), "");
}

// trainer 1533
TEST(Pain, P17_TimeToLiveIsHonouredToTheSecond) {
  Yard yard;
  yard.submit(tfjob("Worker 1", "ttlSecondsAfterFinished: 100")).let("worker-0 Succeeded").after(99);
  EXPECT_EQ(yard.waits(WaitKind::kTimeToLive), "the job is deleted in 1s (ttlSecondsAfterFinished)");
  yard.restart_operator().after(1);
  EXPECT_FALSE(yard.has_job());
}

// trainer 2239
TEST(Pain, P18_SuspendAndTimeToLiveGoTogether) {
  Yard yard;
  yard.submit(tfjob("Worker 1", "ttlSecondsAfterFinished: 5")).let("* Running");
  yard.edit("spec: {runPolicy: {suspend: true}}").after(60);
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Suspended=True");
  EXPECT_TRUE(yard.has_job());
  yard.edit("spec: {runPolicy: {suspend: false}}").let("* Running").let("worker-0 Succeeded").after(5);
  EXPECT_FALSE(yard.has_job());
  EXPECT_EQ(yard.events("Failed"), "");
}

// trainer 1306, 461, 322: the new job waits for the names of the old one's pods and has them
// soon after they are free.
TEST(Pain, P19_ANameIsUsedAgainAtOnce) {
  Yard yard;
  yard.submit(tfjob("Worker 2")).let("* Running");
  std::string old_uid(kube::uid_of(yard.job()));
  yard.slow_nodes();
  yard.delete_job();
  EXPECT_EQ(yard.pods(), "worker-0 Running leaving, worker-1 Running leaving");
  yard.submit(tfjob("Worker 2")).after(1);
  EXPECT_EQ(yard.pods(), "worker-0 Running leaving, worker-1 Running leaving");
  EXPECT_EQ(yard.conditions(), "Created=True");
  yard.let("* gone").after(5);
  EXPECT_EQ(yard.pods(), "worker-0 Pending, worker-1 Pending");
  EXPECT_NE(kube::uid_of(yard.job()), old_uid);
  EXPECT_EQ(kube::controller_uid_of(yard.pod("worker-0")), kube::uid_of(yard.job()));
}

// trainer 1492
TEST(Pain, P20_AConflictIsNoNoise) {
  Yard yard;
  yard.submit(tfjob("Worker 1"));
  // Just before each of the next writes somebody else changes the job.
  int changes = 0;
  yard.tap.refuse = [&](const kube::Request& request) -> std::optional<Error> {
    if (!std::holds_alternative<kube::UpdateStatus>(request.verb) || changes == 3) return std::nullopt;
    json::object mark{{"metadata", {{"annotations", {{"seen", std::to_string(++changes)}}}}}};
    kube::Patch patch{.name = "j", .kind = kube::PatchKind::kMerge, .body = mark};
    EXPECT_TRUE(yard.store.patch(kube::kTfJobs, "ns", patch, yard.now).ok());
    return std::nullopt;
  };
  yard.let("* Running");
  EXPECT_EQ(changes, 3);
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  EXPECT_EQ(kube::annotation_of(yard.job(), "seen"), "3");
  EXPECT_EQ(yard.events("Warning"), "");
}

}  // namespace
}  // namespace trainyard::scenarios
