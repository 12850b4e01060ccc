// What users of Volcano complain about, where the controller is to blame (the scheduler's
// part is not here). V with the number of the thread.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dialect/volcano/volcano.h"
#include "kube/access.h"
#include "words.h"
#include "yard.h"

namespace trainyard::scenarios {
namespace {

constexpr std::string_view kRestartAll =
    "policies: [{event: PodEvicted, action: RestartJob}, {event: PodFailed, action: RestartJob}]";

// The job with its gang let in and all pods running.
void start(Yard& yard, const std::string& yaml) {
  yard.submit(yaml);
  yard.gang_is("Inqueue").let("* Running");
  ASSERT_EQ(yard.phase(), "Running");
}

// The gang is a new one after a stop; it is let in again, and the pods run.
void start_again(Yard& yard) {
  if (yard.has_pod_group()) yard.gang_is("Inqueue");
  yard.let("* Running");
}

// Differs: resumes are not charged to maxRetry (0014-volcano-differences.md).
TEST(Volcano, V3067_SuspendAndResumeDoNotSpendRetries) {
  Yard yard;
  start(yard, vcjob("worker 2", "maxRetry: 3"));
  for (int i = 0; i < 5; ++i) {
    SCOPED_TRACE(i);
    yard.command("AbortJob");
    EXPECT_EQ(yard.phase(), "Aborted");
    EXPECT_EQ(yard.pods(), "");
    yard.command("ResumeJob");
    start_again(yard);
    EXPECT_EQ(yard.phase(), "Running");
  }
  EXPECT_EQ(yard.status({"retryCount"}), "");
}

// Differs: evictions are not charged to maxRetry (0014-volcano-differences.md).
TEST(Volcano, V2560_EvictionsDoNotSpendRetries) {
  Yard yard;
  start(yard, vcjob("worker 2", "maxRetry: 2\n  " + std::string(kRestartAll)));
  for (int i = 0; i < 4; ++i) {
    SCOPED_TRACE(i);
    yard.let("worker-1 Evicted");
    start_again(yard);
    EXPECT_EQ(yard.phase(), "Running");
  }
  EXPECT_EQ(yard.status({"retryCount"}), "");
  yard.let("worker-1 Failed 1");
  start_again(yard);
  EXPECT_EQ(yard.phase(), "Running");
  EXPECT_EQ(yard.status({"retryCount"}), "1");
  yard.let("worker-1 Failed 1");
  EXPECT_EQ(yard.phase(), "Failed");
}

// Differs: a pod that ends because it was preempted is evicted, and never a failure first
// (0005-disruption-is-not-charged.md).
TEST(Volcano, V5885_APreemptedPodIsEvictedNotFailed) {
  Yard yard;
  start(yard, vcjob("worker 2",
                    "policies: [{event: PodFailed, action: TerminateJob}, {event: PodEvicted, action: "
                    "RestartJob}]"));
  yard.let("worker-1 Preempted");
  EXPECT_NE(yard.phase(), "Terminated");
  start_again(yard);
  EXPECT_EQ(yard.phase(), "Running");
  yard.let("worker-1 Failed 1");
  EXPECT_EQ(yard.phase(), "Terminated");
}

// Differs: pods that stay after the end are still counted (0014-volcano-differences.md).
TEST(Volcano, V4616_CountsOutliveTheEnd) {
  Yard yard;
  start(yard, vcjob("ps 1, worker 2", "minSuccess: 2"));
  yard.let("worker-* Succeeded");
  EXPECT_EQ(yard.phase(), "Completed");
  EXPECT_EQ(yard.status({"succeeded"}), "2");
  EXPECT_EQ(yard.status({"taskStatusCount"}), R"({"worker":{"phase":{"Succeeded":2}}})");
  yard.restart_operator().after(3600);
  EXPECT_EQ(yard.status({"succeeded"}), "2");
}

TEST(Volcano, V1866_RestartTaskOnPodFailedRestartsTheTask) {
  Yard yard;
  start(yard, vcjob("ps 1, worker 2 {policies: [{event: PodFailed, action: RestartTask}]}"));
  yard.let("worker-1 Failed 1");
  EXPECT_EQ(yard.pods(), "ps-0 Running, worker-0 Pending@1, worker-1 Pending@1");
  yard.let("worker-* Running");
  EXPECT_EQ(yard.phase(), "Running");
  EXPECT_EQ(yard.status({"retryCount"}), "1");
}

TEST(Volcano, V4814_RestartTaskOnPodEvictedRestartsTheTask) {
  for (std::string_view how : {"worker-1 Evicted", "worker-1 gone"}) {
    SCOPED_TRACE(how);
    Yard yard;
    start(yard, vcjob("ps 1, worker 2 {policies: [{event: PodEvicted, action: RestartTask}]}"));
    yard.let(how);
    EXPECT_EQ(yard.pods(), "ps-0 Running, worker-0 Pending@1, worker-1 Pending@1");
    yard.let("worker-* Running");
    EXPECT_EQ(yard.phase(), "Running");
    EXPECT_EQ(yard.status({"retryCount"}), "");
  }
}

// At the last retry the failed pod stays to be looked at.
TEST(Volcano, V1688_FailedPodsStayAtTheLastRetry) {
  Yard yard;
  start(yard, vcjob("worker 2", "maxRetry: 1\n  " + std::string(kRestartAll)));
  yard.let("worker-1 Failed 3");
  EXPECT_EQ(yard.phase(), "Failed");
  EXPECT_EQ(kube::text_at(yard.pod("worker-1"), {"status", "phase"}), "Failed");
}

// ... and those that ran do not run on.
TEST(Volcano, V1718_NothingRunsOnAfterTheLastRetry) {
  Yard yard;
  start(yard, vcjob("ps 1, worker 2", "maxRetry: 1\n  " + std::string(kRestartAll)));
  yard.let("worker-1 Failed 3");
  EXPECT_EQ(yard.pods(), "worker-1 Failed(3)");
  EXPECT_EQ(yard.status({"failed"}), "1");
  EXPECT_EQ(yard.status({"running"}), "");
}

TEST(Volcano, V1099_EndlessRestartsInPlaceAreSeen) {
  Yard yard;
  start(yard, vcjob("worker 2 {maxRetry: 3, policies: [{event: TaskFailed, action: TerminateJob}]}"));
  yard.let("worker-0 Restarted 1; worker-1 Restarted 1");
  EXPECT_EQ(yard.phase(), "Running");
  yard.let("worker-0 Restarted 2");
  EXPECT_EQ(yard.phase(), "Terminated");
}

TEST(Volcano, V3296_ASucceededPodThatIsLostIsNotRunAgain) {
  Yard yard;
  start(yard, vcjob("worker 3"));
  yard.let("worker-0 Succeeded").let("worker-0 gone").let("worker-1 dies 0");
  EXPECT_EQ(yard.pods(), "worker-2 Running");
  yard.restart_operator();
  EXPECT_EQ(yard.pods(), "worker-2 Running");
  yard.let("worker-2 Succeeded");
  EXPECT_EQ(yard.phase(), "Completed");
  EXPECT_EQ(yard.status({"succeeded"}), "3");
}

TEST(Volcano, V3357_ANameIsUsedAgainWhileOldPodsEnd) {
  Yard yard;
  start(yard, vcjob("worker 2"));
  yard.slow_nodes();
  yard.delete_job();
  yard.submit(vcjob("worker 2")).gang_is("Inqueue").after(1);
  EXPECT_EQ(yard.pods(), "worker-0 Running leaving, worker-1 Running leaving");
  EXPECT_EQ(yard.phase(), "Pending");
  yard.let("* gone").after(5);
  EXPECT_EQ(yard.pods(), "worker-0 Pending, worker-1 Pending");
  EXPECT_EQ(kube::controller_uid_of(yard.pod("worker-0")), kube::uid_of(yard.job()));
  yard.let("* Running");
  EXPECT_EQ(yard.phase(), "Running");
}

// What pods of the old job do while they end is nothing to the new one.
TEST(Volcano, V1241_PodsOfTheOldJobCountForNothing) {
  Yard yard;
  start(yard, vcjob("worker 2", "maxRetry: 1\n  " + std::string(kRestartAll)));
  yard.slow_nodes();
  yard.delete_job();
  yard.submit(vcjob("worker 2", "maxRetry: 1\n  " + std::string(kRestartAll))).gang_is("Inqueue");
  yard.let("worker-0 Failed 143; worker-1 Failed 143").let("* gone").after(5);
  EXPECT_EQ(yard.pods(), "worker-0 Pending, worker-1 Pending");
  EXPECT_EQ(yard.status({"retryCount"}), "");
  yard.let("* Running");
  EXPECT_EQ(yard.phase(), "Running");
}

// A task that waits for another is not stuck when its name was used before.
TEST(Volcano, V2284_DependsOnAfterANameWasUsedBefore) {
  Yard yard;
  std::string job = vcjob("ps 1, worker 1 {dependsOn: {name: [ps]}}");
  yard.submit(job).gang_is("Inqueue").let("ps-0 Ready").let("worker-0 Running");
  yard.slow_nodes();
  yard.delete_job();
  yard.submit(job).gang_is("Inqueue").let("ps-0 gone").after(5);
  EXPECT_EQ(yard.pods(), "ps-0 Pending, worker-0 Running leaving");
  yard.let("ps-0 Ready");
  yard.let("worker-0 gone").after(5);
  EXPECT_EQ(yard.pods(), "ps-0 Running, worker-0 Pending");
}

TEST(Volcano, V4964_TheThousandthJobHasAStatus) {
  Yard yard;
  for (int i = 0; i < 1000; ++i) {
    std::string job = with(vcjob("worker 1"), "name: j", fmt::format("name: j{}", i));
    ASSERT_TRUE(yard.store.create(kube::kVolcanoJobs, "ns", parse(job), yard.now).ok());
  }
  yard.submit(vcjob("worker 1"));
  EXPECT_EQ(yard.phase(), "Pending");
}

// Differs: a gang does not count those that wait for others of it (0014-volcano-differences.md).
TEST(Volcano, V2944_DependsOnAndGangDoNotWaitForEachOther) {
  Yard yard;
  yard.submit(vcjob("ps 1, worker 2 {dependsOn: {name: [ps]}}", "minAvailable: 3"));
  EXPECT_EQ(kube::int_at(yard.pod_group(), {"spec", "minMember"}), 1);
  EXPECT_EQ(yard.events("GangWaitsForItself"),
            "Warning GangWaitsForItself: minAvailable 3 counts tasks that wait for others (dependsOn), which "
            "could never start; the gang is let in with 1");
  yard.gang_is("Inqueue");
  EXPECT_EQ(yard.pods(), "ps-0 Pending");
  EXPECT_EQ(yard.waits(model::WaitKind::kDependsOn), "worker waits for ps to be ready (dependsOn)");
  yard.let("ps-0 Ready");
  EXPECT_EQ(yard.pods(), "ps-0 Running, worker-0 Pending, worker-1 Pending");
  yard.let("* Running");
  EXPECT_EQ(yard.phase(), "Running");
}

TEST(Volcano, V2130_ATaskWithoutMinimumMayWait) {
  Yard yard;
  yard.submit(vcjob("ps 1, worker 2 {minAvailable: 0, dependsOn: {name: [ps]}}"));
  EXPECT_EQ(kube::int_at(yard.pod_group(), {"spec", "minMember"}), 1);
  EXPECT_EQ(yard.events("GangWaitsForItself"), "");
  yard.gang_is("Inqueue").let("ps-0 Ready");
  EXPECT_EQ(yard.pods(), "ps-0 Running, worker-0 Pending, worker-1 Pending");
}

TEST(Volcano, V1755_TheMinimumOfATaskReachesTheScheduler) {
  Yard yard;
  yard.submit(vcjob("ps 2 {minAvailable: 2}, worker 4 {minAvailable: 3}", "minAvailable: 1"));
  EXPECT_EQ(kube::int_at(yard.pod_group(), {"spec", "minMember"}), 1);
  EXPECT_EQ(json::serialize(*kube::object_at(yard.pod_group(), {"spec", "minTaskMember"})),
            R"({"ps":2,"worker":3})");
}

// The tasks count in the order they are written in, each time.
TEST(Volcano, V3319_MinResourcesDoNotDependOnChance) {
  std::string job = vcjob("ps 2, worker 2", "minAvailable: 3");
  job = with(job, "image: tf", "image: tf, resources: {requests: {cpu: 1}}");
  size_t second = job.rfind("image: tf}");
  job.replace(second, 9, "image: tf, resources: {requests: {cpu: 10}}");
  model::JobSpec first = lowered(dialect::volcano(), job);
  EXPECT_EQ(first.gang->min_resources.at("cpu"), "12");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(lowered(dialect::volcano(), job).gang->min_resources, first.gang->min_resources);
  }
}

json::object first_pod(const std::string& yaml) {
  Yard yard;
  yard.submit(yaml).gang_is("Inqueue");
  return yard.pod("worker-0");
}

TEST(Volcano, V5471_HostListsCanBeKeptOutOfTheEnvironment) {
  std::string always = json::serialize(first_pod(vcjob("worker 2", "plugins: {svc: []}")));
  EXPECT_NE(always.find("VC_WORKER_HOSTS"), std::string::npos);
  std::string without =
      json::serialize(first_pod(vcjob("worker 2", "plugins: {svc: [\"--inject-hosts-env=false\"]}")));
  EXPECT_EQ(without.find("VC_WORKER_HOSTS"), std::string::npos);
  EXPECT_NE(without.find("/etc/volcano"), std::string::npos);
}

TEST(Volcano, V5410_TheNetworkPolicyCanBeLeftOut) {
  auto policies = [](std::string_view flags) {
    Yard yard;
    yard.submit(vcjob("worker 2", fmt::format("plugins: {{svc: [{}]}}", flags))).gang_is("Inqueue");
    return yard.store.list(kube::kNetworkPolicies, "ns")->items.size();
  };
  EXPECT_EQ(policies(""), 1u);
  EXPECT_EQ(policies("\"--disable-network-policy=true\""), 0u);
}

// There is no spec.suspend in a Volcano Job; the commands do all it would: what has succeeded
// stays succeeded, what ran starts again, and the job is told as stopped in between.
TEST(Volcano, V2785_AJobCanBeStoppedAndTakenUpAgain) {
  Yard yard;
  start(yard, vcjob("worker 3"));
  yard.let("worker-0 Succeeded");
  yard.command("AbortJob");
  EXPECT_EQ(yard.phase(), "Aborted");
  EXPECT_EQ(yard.pods(), "worker-0 Succeeded");
  EXPECT_FALSE(yard.has_pod_group());
  yard.after(86'400);
  EXPECT_EQ(yard.phase(), "Aborted");
  yard.command("ResumeJob").gang_is("Inqueue");
  EXPECT_EQ(yard.pods(), "worker-0 Succeeded, worker-1 Pending@1, worker-2 Pending@1");
  yard.let("worker-1 Succeeded; worker-2 Succeeded");
  EXPECT_EQ(yard.phase(), "Completed");
}

// 621, 1778: no pod is sent that admission would have to turn away.
TEST(Volcano, V621_NoPodBeforeTheGangIsLetIn) {
  Yard yard;
  yard.submit(vcjob("worker 2")).gang_is("Pending").after(3600);
  EXPECT_EQ(yard.pods(), "");
  EXPECT_EQ(yard.phase(), "Pending");
  yard.gang_is("Inqueue");
  EXPECT_EQ(yard.pods(), "worker-0 Pending, worker-1 Pending");
}

// 2143, 2389: a job that is over leaves no group behind that would take up room.
TEST(Volcano, V2389_NoPodGroupIsLeftBehind) {
  Yard done;
  start(done, vcjob("worker 1"));
  done.let("worker-0 Succeeded");
  EXPECT_EQ(done.phase(), "Completed");
  EXPECT_FALSE(done.has_pod_group());
  Yard deleted;
  start(deleted, vcjob("worker 1"));
  deleted.delete_job();
  EXPECT_FALSE(deleted.has_pod_group());
}

// 3318: twenty jobs of a hundred pods are twenty passes over, not two thousand.
TEST(Volcano, V3318_ManyPodsAreFewPasses) {
  Yard yard;
  for (int i = 0; i < 20; ++i) {
    yard.submit(with(vcjob("worker 100"), "name: j", fmt::format("name: j{}", i)));
  }
  int64_t before = yard.passes();
  auto groups = yard.store.list(kube::kVolcanoPodGroups, "ns");
  for (const store::Object& group : groups->items) {
    json::object admitted = *group;
    admitted["status"] = json::object{{"phase", "Inqueue"}};
    ASSERT_TRUE(yard.store.update(kube::kVolcanoPodGroups, "ns", admitted, yard.now).ok());
  }
  yard.settle();
  EXPECT_EQ(yard.store.list(kube::kPods, "ns")->items.size(), 2000u);
  EXPECT_LE(yard.passes() - before, 20 * 4);
}

// 3734, 3358, 2677: nothing asks a webhook (Install.NothingStandsInTheWayOfCreations: none is installed). A
// job that one would have kept out gets in, says what is wrong with it, and others have their pods.
TEST(Volcano, V3734_NoAdmissionStandsBeforePods) {
  Yard yard;
  yard.submit(vcjob("worker 1", "policies: [{event: PodFialed, action: RestartJob}]"));
  EXPECT_EQ(yard.pods(), "");
  EXPECT_EQ(yard.status({"state", "reason"}), "\"InvalidSpec\"");
  EXPECT_NE(yard.status({"state", "message"}).find("spec.policies[0].event"), std::string::npos);
  yard.submit(with(vcjob("worker 1"), "name: j", "name: k")).gang_is("Inqueue").let("worker-0 Succeeded");
  EXPECT_EQ(yard.phase(), "Completed");
  for (const auto& [resource, object] : yard.store.everything()) {
    EXPECT_EQ(resource.group.find("admission"), std::string_view::npos) << resource.kind;
  }
}

// kubeflow/trainer 1825, 1630, 1245: the same through a TFJob are pains 31 to 33; this is the
// scheduler that does not say beforehand whether there is room.
TEST(Volcano, T1245_AGroupForCoschedulingHasItsResources) {
  Yard yard(dialect::Settings{.gang_scheduler = "scheduler-plugins"});
  yard.submit(with(tfjob("Worker 2", "schedulingPolicy: {minAvailable: 2, scheduleTimeoutSeconds: 30}"),
                   "image: tf", "image: tf, resources: {limits: {nvidia.com/gpu: 1}}"));
  auto groups = yard.store.list(kube::kCoschedulingPodGroups, "ns");
  ASSERT_EQ(groups->items.size(), 1u);
  EXPECT_EQ(json::serialize(*kube::object_at(*groups->items[0], {"spec"})),
            R"({"minMember":2,"minResources":{"nvidia.com/gpu":"2"},"scheduleTimeoutSeconds":30})");
  EXPECT_EQ(yard.pods(), "worker-0 Pending, worker-1 Pending");
  EXPECT_EQ(kube::label_of(yard.pod("worker-0"), "scheduling.x-k8s.io/pod-group"), "j");
}

}  // namespace
}  // namespace trainyard::scenarios
