// What the end-to-end tests of Kubeflow's operator expect, and the corners of its rules in
// which it is known to get stuck.
#include <gtest/gtest.h>

#include "kube/access.h"
#include "words.h"
#include "yard.h"

namespace trainyard::scenarios {
namespace {

// What a Python client waits for: Created and Succeeded true, nothing else is. And all that is
// told on the way.
TEST(KubeflowEndToEnd, E01_AWholeLife) {
  Yard yard;
  yard.submit(tfjob("Worker 1, PS 1", "cleanPodPolicy: All")).let("* Running").let("worker-0 Succeeded");
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Succeeded=True");
  EXPECT_EQ(yard.replicas(), "PS succeeded=1, Worker succeeded=1");
  EXPECT_EQ(yard.events(),
            "Normal SuccessfulCreateService: Created service: j-ps-0\n"
            "Normal SuccessfulCreateService: Created service: j-worker-0\n"
            "Normal SuccessfulCreatePod: Created pod: j-ps-0\n"
            "Normal SuccessfulCreatePod: Created pod: j-worker-0\n"
            "Normal ExitedWithCode: Pod: ns.j-worker-0 exited with code 0\n"
            "Normal TFJobSucceeded: TFJob ns/j successfully completed.\n"
            "Normal SuccessfulDeletePod: Deleted pod: j-ps-0\n"
            "Normal SuccessfulDeletePod: Deleted pod: j-worker-0\n"
            "Normal SuccessfulDeleteService: Deleted service: j-ps-0\n"
            "Normal SuccessfulDeleteService: Deleted service: j-worker-0");
  EXPECT_EQ(yard.cost_of([&] { yard.restart_operator().after(86'400); }), 0);
}

// Differs: theirs waits for pods that nobody makes, until the policy is edited; ours asks for those that
// there are, and says so (0210-a-gang-asks-for-what-its-job-makes.md).
TEST(KubeflowEndToEnd, E02_AGangThatIsTooLarge) {
  Yard yard(dialect::Settings{.gang_scheduler = "volcano"});
  yard.submit(tfjob("Worker 1", "schedulingPolicy: {minAvailable: 10}"));
  EXPECT_EQ(kube::int_at(yard.pod_group(), {"spec", "minMember"}), 1);
  EXPECT_EQ(yard.events("GangTooLarge"),
            "Warning GangTooLarge: minAvailable 10 is more than all replicas together: the gang is let in "
            "with 1");
  yard.gang_is("Pending").after(15);
  EXPECT_EQ(yard.conditions(), "Created=True");
  yard.edit("spec: {runPolicy: {schedulingPolicy: {minAvailable: 1}}}");
  EXPECT_EQ(kube::int_at(yard.pod_group(), {"spec", "minMember"}), 1);
  yard.gang_is("Inqueue").let("* Running").let("worker-0 Succeeded");
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Succeeded=True");
  EXPECT_FALSE(yard.has_pod_group());
}

// What the policy of a parameter server does when it ends; in place is the kubelet's part.
TEST(KubeflowEndToEnd, E03_RestartPolicies) {
  struct Row {
    std::string_view policy, ending, pods, failed;
  };
  for (const Row& row : {
           Row{"OnFailure", "Failed 1", "ps-0 Pending@1, worker-0 Running", ""},
           Row{"OnFailure", "Succeeded", "ps-0 Succeeded, worker-0 Running", ""},
           Row{"Always", "Failed 1", "ps-0 Pending@1, worker-0 Running", ""},
           Row{"Never", "Succeeded", "ps-0 Succeeded, worker-0 Running", ""},
           Row{"Never", "Failed 1", "ps-0 Failed(1)",
               "True TFJobFailed: TFJob ns/j has failed because 1 PS replica(s) failed."},
           Row{"Never", "Evicted", "ps-0 Failed(Evicted)",
               "True TFJobFailed: TFJob ns/j has failed because 1 PS replica(s) failed."},
           Row{"OnFailure", "Evicted", "ps-0 Pending@1, worker-0 Running", ""},
           Row{"ExitCode", "Evicted", "ps-0 Pending@1, worker-0 Running", ""},
           Row{"ExitCode", "Failed 1", "ps-0 Failed(1)",
               "True TFJobFailed: job \"j\" is failing because \"PS\" replica(s) failed."},
           Row{"ExitCode", "Failed 130", "ps-0 Pending@1, worker-0 Running", ""},
       }) {
    SCOPED_TRACE(testing::Message() << row.policy << ", " << row.ending);
    Yard yard;
    yard.submit(tfjob("PS 1 " + std::string(row.policy) + ", Worker 1 Never")).let("* Running");
    yard.let("ps-0 " + std::string(row.ending));
    EXPECT_EQ(yard.pods(), row.pods);
    EXPECT_EQ(yard.condition("Failed"), row.failed);
  }
}

// Theirs never leaves Restarting when a replica fails for good beside one that restarts
// (0018-tfjob-differences.md).
TEST(KubeflowEndToEnd, E04_AFailureForGoodBesideARestart) {
  Yard yard;
  yard.submit(tfjob("Worker 2 ExitCode, PS 1 Never")).let("* Running");
  yard.let("worker-1 Failed 137").let("ps-0 Failed 1");
  EXPECT_EQ(yard.conditions(), "Created=True Restarting=False Failed=True");
  EXPECT_EQ(yard.condition("Failed"),
            "True TFJobFailed: TFJob ns/j has failed because 1 PS replica(s) failed.");
}

// A resume that comes while pods still end waits for them (0015-resume-starts-over.md).
TEST(KubeflowEndToEnd, E05_ResumeWhilePodsStillEnd) {
  Yard yard;
  yard.submit(tfjob("Worker 2")).let("* Running");
  yard.slow_nodes();
  yard.edit("spec: {runPolicy: {suspend: true}}").edit("spec: {runPolicy: {suspend: false}}");
  EXPECT_EQ(yard.pods(), "worker-0 Running leaving, worker-1 Running leaving");
  EXPECT_EQ(yard.waits(model::WaitKind::kOldPods),
            "waiting for j-worker-1 of attempt 0 to go before starting again");
  EXPECT_EQ(yard.condition("Failed"), "");
  yard.let("worker-0 gone");
  EXPECT_EQ(yard.pods(), "worker-1 Running leaving");
  yard.let("worker-1 gone").let("* Running");
  EXPECT_EQ(yard.pods(), "worker-0 Running@1, worker-1 Running@1");
  EXPECT_EQ(yard.conditions(), "Created=True Suspended=False Running=True");
}

// Theirs makes a pod for a role of none, takes it away, and makes it again, for ever.
TEST(KubeflowEndToEnd, E06_ARoleOfNone) {
  Yard yard;
  yard.submit(tfjob("Worker 1, PS 0"));
  EXPECT_EQ(yard.pods(), "worker-0 Pending");
  // That its pods have existed is written a little later.
  EXPECT_EQ(yard.cost_of([&] { yard.after(30); }), 1);
  EXPECT_EQ(yard.cost_of([&] { yard.after(3600); }), 0);
}

// With the whole job as the unit of restart, one failure is one charge, what the survivors do
// of it is not another, and nobody starts before all have gone.
TEST(KubeflowEndToEnd, E07_TheWholeJobStartsAgain) {
  Yard yard;
  yard.submit(with(tfjob("Chief 1 OnFailure, Worker 2 OnFailure", "backoffLimit: 1"), "name: j,",
                   "name: j, annotations: {trainyard.dev/restart-scope: job},"));
  yard.let("* Running");
  yard.slow_nodes();
  yard.let("worker-1 Failed 137");
  yard.let("worker-0 Failed 1");
  EXPECT_EQ(yard.condition("Failed"), "");
  EXPECT_EQ(yard.pods(), "chief-0 Running leaving, worker-0 Failed(1) leaving");
  yard.let("chief-0 gone; worker-0 gone");
  EXPECT_EQ(yard.pods(), "chief-0 Pending@1, worker-0 Pending@1, worker-1 Pending@1");
  yard.let("* Running");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  yard.let("chief-0 Failed 1");
  EXPECT_EQ(yard.condition("Failed"),
            "True TFJobFailed: Job j has failed because it has reached the specified backoff limit");
}

// A worker that somebody deletes takes the others along, uncharged: they wait for it in vain
// (0006-deleted-pods-come-back.md).
TEST(KubeflowEndToEnd, E08_TheWholeJobStartsAgainForADeletedPod) {
  Yard yard;
  yard.submit(with(tfjob("Worker 2 OnFailure", "backoffLimit: 0"), "name: j,",
                   "name: j, annotations: {trainyard.dev/strategy: MultiWorkerMirrored},"));
  yard.let("* Running");
  yard.let("worker-1 gone");
  EXPECT_EQ(yard.pods(), "worker-0 Pending@1, worker-1 Pending@1");
  EXPECT_EQ(yard.condition("Failed"), "");
}

}  // namespace
}  // namespace trainyard::scenarios
