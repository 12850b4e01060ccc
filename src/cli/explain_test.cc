// What `explain` says of jobs in the middle of their lives; whole manifests are in tests/golden.
#include "cli/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/testing.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Time kNewYear{1'767'225'600'000};  // 2026-01-01

std::string explained(const std::string& text) {
  std::istringstream in(text);
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(explain(Explain{{"-"}, OutputForm::kText, {}, {}}, {in, out, err}, kNewYear), 0) << err.str();
  return out.str();
}

// What stands below "Next".
std::string next_of(const std::string& text) {
  std::string said = explained(text);
  size_t at = said.find("\nNext");
  return at == std::string::npos ? said : said.substr(said.find('\n', at + 1) + 1);
}

constexpr std::string_view kTrainingOfOne = R"(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: a, namespace: ns, uid: u}
spec:
  tfReplicaSpecs:
    Worker: {replicas: 1, template: {spec: {containers: [{name: tensorflow, image: i}]}}}
)";

constexpr std::string_view kItsPod = R"(---
apiVersion: v1
kind: Pod
metadata:
  name: a-worker-0
  namespace: ns
  uid: p
  labels: {training.kubeflow.org/operator-name: tfjob-controller, training.kubeflow.org/job-name: a,
           training.kubeflow.org/replica-type: worker, training.kubeflow.org/replica-index: "0"}
  ownerReferences: [{apiVersion: kubeflow.org/v1, kind: TFJob, name: a, uid: u, controller: true}]
)";

// An operator would not write it either.
TEST(Explain, NothingIsWrittenOverAStatusThatSaysItAll) {
  const std::string ended = std::string(kTrainingOfOne) + R"(
status:
  conditions:
  - {type: Created, status: "True", reason: TFJobCreated}
  - {type: Succeeded, status: "True", reason: TFJobSucceeded}
  replicaStatuses: {Worker: {succeeded: 1}}
  startTime: 2025-12-30T00:00:00Z
  completionTime: 2025-12-31T00:00:00Z
)";
  EXPECT_EQ(next_of(ended), "  nothing to do\n");
}

TEST(Explain, AStatusThatWouldChangeIsWritten) {
  const std::string job = std::string(kTrainingOfOne) + "status: {startTime: 2025-12-31T00:00:00Z}\n";
  const std::string said = next_of(job + std::string(kItsPod) + "status: {phase: Running}\n");
  EXPECT_THAT(said, HasSubstr("  write status\n"));
}

// Whoever gives pods alone is told what else there is to give, and is not told to make it.
TEST(Explain, WhatWasNotGivenIsNotMissed) {
  const std::string job = std::string(kTrainingOfOne) + "status: {startTime: 2025-12-31T00:00:00Z}\n";
  const std::string said = next_of(job + std::string(kItsPod) + "status: {phase: Running}\n");
  EXPECT_THAT(said, Not(HasSubstr("create service")));
  EXPECT_THAT(said,
              HasSubstr("(Not given, so it is not known whether it is there: services. The whole of it:\n"
                        "   kubectl get tfjobs.kubeflow.org,pods,services -o yaml | trainyard explain -)\n"));
}

constexpr std::string_view kVolcanoJob = R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: a, namespace: ns, uid: u}
spec:
  minAvailable: 1
  plugins: {svc: []}
  tasks:
  - {name: worker, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: m, image: i}]}}}
status: {state: {phase: Running}, running: 1}
)";

constexpr std::string_view kVolcanoPod = R"(---
apiVersion: v1
kind: Pod
metadata:
  name: a-worker-0
  namespace: ns
  uid: p
  annotations: {volcano.sh/job-name: a, volcano.sh/job-version: "0", volcano.sh/task-spec: worker}
  labels: {volcano.sh/job-name: a, volcano.sh/task-spec: worker, volcano.sh/task-index: "0"}
  ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: a, uid: u, controller: true}]
status: {phase: Running}
)";

TEST(Explain, AGangThatWasNotGivenIsNotWaitedFor) {
  const std::string said = next_of(std::string(kVolcanoJob) + std::string(kVolcanoPod));
  EXPECT_THAT(said, HasSubstr("(Not given, so it is not known whether it is there: ConfigMap, NetworkPolicy, "
                              "PodGroup, Service. The whole of it:\n   kubectl get jobs.batch.volcano.sh,"
                              "pods,podgroups.scheduling.volcano.sh,"));
  EXPECT_THAT(said, Not(HasSubstr("create")));
  EXPECT_THAT(said, Not(HasSubstr("waits: waiting for the scheduler to let in the gang")));
}

TEST(Explain, ADynamicWorkersTfConfigIsItsOwn) {
  std::string job(kTrainingOfOne);
  job.replace(job.find("replicas: 1"), 11, "replicas: 2");
  EXPECT_THAT(explained(job), HasSubstr("TF_CONFIG of a-worker-0 (the others differ in task)"));
  job.replace(job.find("  tfReplicaSpecs"), 0, "  enableDynamicWorker: true\n");
  EXPECT_THAT(explained(job),
              HasSubstr("TF_CONFIG of a-worker-0 (each lists itself and the parameter servers, which list "
                        "themselves alone)"));
}

TEST(Explain, DebugModeIsTold) {
  const std::string job = R"(
apiVersion: batch.tensorstack.dev/v1beta1
kind: TensorFlowTrainingJob
metadata: {name: a}
spec:
  runMode: {debug: {enabled: true, replicaSpecs: [{type: ps, command: [/usr/bin/sshd, -D]}]}}
  replicaSpecs:
  - {type: worker, template: {spec: {containers: [{name: tensorflow, image: i}]}}}
  - {type: ps, template: {spec: {containers: [{name: tensorflow, image: i}]}}}
)";
  const std::string said = explained(job);
  EXPECT_THAT(said, HasSubstr("x worker  i\n      debug mode: it runs sleep inf instead of the training"));
  EXPECT_THAT(said, HasSubstr("x ps  i\n      debug mode: it runs /usr/bin/sshd -D instead of the training"));
}

TEST(Explain, ForAJobThatGoesNothingIsMade) {
  std::string job(kTrainingOfOne);
  job.replace(job.find("uid: u}"), 7, "uid: u, deletionTimestamp: 2026-01-01T00:00:00Z, finalizers: [f]}");
  EXPECT_THAT(explained(job + "status: {startTime: 2025-12-31T00:00:00Z}\n"),
              HasSubstr("  being deleted: nothing is made for it any more\n"));
  std::istringstream in(job);
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(explain(Explain{{"-"}, OutputForm::kYaml, {}, {}}, {in, out, err}, kNewYear), 0);
  EXPECT_EQ(out.str(), "apiVersion: v1\nkind: List\nitems: []\n");
  EXPECT_THAT(err.str(), HasSubstr("TFJob a: is being deleted: nothing more would be created\n"));
}

TEST(Explain, AGangIsShownAsItWouldBeMade) {
  std::string job(kTrainingOfOne);
  job.replace(job.find("uid: u}"), 7, "uid: u, annotations: {trainyard.dev/gang-scheduler: volcano}}");
  job.insert(job.find("  tfReplicaSpecs"), "  runPolicy: {schedulingPolicy: {minAvailable: 9}}\n");
  const std::string said = explained(job);
  EXPECT_THAT(said, HasSubstr("PodGroup a of Volcano: 1 pods start together or not at all"));
  EXPECT_THAT(said,
              HasSubstr("  minAvailable 9 is more than all replicas together: the gang is let in with 1\n"));
}

}  // namespace
}  // namespace trainyard::cli
