// What the tests of Kubeflow's own operator expect, groups 1-19: the normal path, suspend,
// cleanup, limits, time to live. Where ours deliberately differs, the test says so and names
// the decision record in docs/decisions.
#include <gtest/gtest.h>

#include "dialect/tfjob/tfjob.h"
#include "kube/access.h"
#include "words.h"
#include "yard.h"

namespace trainyard::scenarios {
namespace {

int created(const Yard& yard, size_t since, std::string_view what) {
  int count = 0;
  for (size_t i = since; i < yard.tap.writes.size(); ++i) {
    count += yard.tap.writes[i].starts_with("create " + std::string(what)) ? 1 : 0;
  }
  return count;
}

// Pods and services that went away while nobody looked.
void take_away(Yard& yard, std::string_view labels) {
  kube::DeleteOptions at_once;
  at_once.grace_seconds = 0;
  for (const std::string& label : split(labels, " ")) {
    ASSERT_TRUE(yard.store.remove(kube::kPods, "ns", "j-" + label, at_once, yard.now).ok()) << label;
    ASSERT_TRUE(yard.store.remove(kube::kServices, "ns", "j-" + label, {}, yard.now).ok()) << label;
  }
}

void expect_owned(const Yard& yard, const kube::Resource& resource) {
  auto all = yard.store.list(resource, "ns");
  std::string uid(kube::uid_of(yard.job()));
  for (const store::Object& one : all->items) {
    const json::array* owners = kube::array_at(*one, {"metadata", "ownerReferences"});
    ASSERT_NE(owners, nullptr);
    ASSERT_EQ(owners->size(), 1u);
    EXPECT_EQ(owners->front(), json::value(kube::owner_reference("kubeflow.org/v1", "TFJob", "j", uid)));
  }
}

struct NormalRow {
  std::string_view roles;
  std::string_view missing;  // pods and services that are not there, of the whole job
  std::string_view script;   // what the others do
  int created;               // pods, and as many services
  std::string_view replicas;
  std::string_view conditions;
};

void expect_normal(const NormalRow& row) {
  Yard yard;
  size_t since = yard.tap.writes.size();
  yard.submit(tfjob(row.roles));
  if (!row.missing.empty() || !row.script.empty()) {
    take_away(yard, row.missing);
    since = yard.tap.writes.size();
    if (!row.script.empty()) yard.let(row.script);
    yard.settle();
  }
  EXPECT_EQ(created(yard, since, "pods"), row.created);
  EXPECT_EQ(created(yard, since, "services"), row.created);
  EXPECT_EQ(yard.replicas(), row.replicas);
  EXPECT_EQ(yard.conditions(), row.conditions);
  expect_owned(yard, kube::kPods);
  expect_owned(yard, kube::kServices);
}

// startTime is set with the first pass, and replicaStatuses are there from then on.
TEST(Kubeflow, S01_OneWorkerIsMade) {
  expect_normal({"Worker 1, PS 0", "", "", 1, "PS, Worker", "Created=True"});
}

TEST(Kubeflow, S02_AllReplicasAreMade) {
  expect_normal({"Worker 4, PS 2", "", "", 6, "PS, Worker", "Created=True"});
}

TEST(Kubeflow, S03_PendingPodsAreLeftAlone) {
  expect_normal({"Worker 4, PS 2", "", "* Pending", 0, "PS, Worker", "Created=True"});
}

TEST(Kubeflow, S04_AllRunning) {
  expect_normal(
      {"Worker 4, PS 2", "", "* Running", 0, "PS active=2, Worker active=4", "Created=True Running=True"});
  Yard yard;
  yard.submit(tfjob("Worker 4, PS 2")).let("* Running");
  EXPECT_EQ(yard.condition("Running"), "True TFJobRunning: TFJob ns/j is running.");
  EXPECT_EQ(yard.status({"startTime"}), "\"2026-01-05T09:00:00Z\"");
}

TEST(Kubeflow, S05_WhatIsMissingIsMade) {
  expect_normal({"Worker 4, PS 2", "worker-2 worker-3 ps-1", "* Pending", 3, "PS, Worker", "Created=True"});
}

// Differs: with one of six running theirs is Running already; ours is when all have started
// (docs/decisions/0008-running-means-all-started.md).
TEST(Kubeflow, S06_OneWorkerRunning) {
  expect_normal({"Worker 4, PS 2", "worker-3 ps-1", "worker-0 Running; worker-1 Pending", 2,
                 "PS, Worker active=1", "Created=True"});
}

TEST(Kubeflow, S07_OneWorkerSucceededOthersPending) {
  expect_normal(
      {"Worker 4, PS 2", "worker-3 ps-1", "worker-2 Succeeded", 2, "PS, Worker succeeded=1", "Created=True"});
}

TEST(Kubeflow, S08_AllSucceeded) {
  expect_normal({"Worker 4, PS 2", "", "* Succeeded", 0, "PS succeeded=2, Worker succeeded=4",
                 "Created=True Succeeded=True"});
  Yard yard;
  yard.submit(tfjob("Worker 4, PS 2")).let("* Succeeded");
  EXPECT_EQ(yard.condition("Succeeded"), "True TFJobSucceeded: TFJob ns/j successfully completed.");
  EXPECT_EQ(yard.status({"completionTime"}), "\"2026-01-05T09:00:00Z\"");
}

TEST(Kubeflow, S09_CreatedSuspended) {
  Yard yard;
  yard.submit(tfjob("Chief 1, Worker 1", "suspend: true"));
  EXPECT_EQ(yard.pods(), "");
  EXPECT_EQ(yard.services(), "");
  EXPECT_EQ(yard.status({"startTime"}), "");
  EXPECT_EQ(yard.conditions(), "Created=True Suspended=True");
  EXPECT_EQ(yard.condition("Created"), "True TFJobCreated: TFJob j is created.");
  EXPECT_EQ(yard.condition("Suspended"), "True TFJobSuspended: TFJob j is suspended.");
}

TEST(Kubeflow, S10_RunSuspendResume) {
  Yard yard;
  yard.submit(tfjob("Chief 1, Worker 1", "suspend: false")).let("* Running");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  EXPECT_EQ(yard.replicas(), "Chief active=1, Worker active=1");

  yard.now = yard.now + seconds(30);
  yard.edit("spec: {runPolicy: {suspend: true}}");
  yard.after(600);
  EXPECT_EQ(yard.pods(), "");
  EXPECT_EQ(yard.services(), "");
  EXPECT_EQ(yard.replicas(), "Chief, Worker");
  EXPECT_EQ(yard.status({"startTime"}), "\"2026-01-05T09:00:00Z\"");
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Suspended=True");
  EXPECT_EQ(yard.condition("Running"), "False TFJobSuspended: TFJob j is suspended.");

  yard.edit("spec: {runPolicy: {suspend: false}}");
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Suspended=False");
  EXPECT_EQ(yard.condition("Suspended"), "False TFJobResumed: TFJob j is resumed.");
  EXPECT_EQ(yard.pods(), "chief-0 Pending@1, worker-0 Pending@1");
  EXPECT_EQ(yard.services(), "chief-0, worker-0");
  yard.let("* Running");
  EXPECT_EQ(yard.conditions(), "Created=True Suspended=False Running=True");
  EXPECT_EQ(yard.status({"startTime"}), "\"2026-01-05T09:10:30Z\"");
}

TEST(Kubeflow, S11_ManagedBySomebodyElse) {
  Yard yard;
  yard.submit(tfjob("Chief 1, Worker 1", "suspend: true, managedBy: kueue.x-k8s.io/multikueue"));
  yard.edit("spec: {runPolicy: {suspend: false}}");
  EXPECT_EQ(yard.pods(), "");
  EXPECT_EQ(yard.services(), "");
  EXPECT_FALSE(yard.job().contains("status"));
  EXPECT_EQ(yard.tap.writes.size(), 0u);
}

// A second job, and a pod that only looks like ours, change nothing about the first.
TEST(Kubeflow, S12_DecoysAreNotOurs) {
  Yard yard;
  yard.submit(with(tfjob("Worker 2"), "name: j", "name: decoy"));
  yard.submit(R"(
apiVersion: v1
kind: Pod
metadata:
  name: stray
  labels:
    training.kubeflow.org/operator-name: tfjob-controller
    training.kubeflow.org/job-name: j
    training.kubeflow.org/replica-type: worker
    training.kubeflow.org/replica-index: "0"
spec: {containers: [{name: tensorflow, image: tf}]}
)");
  yard.submit(tfjob("Worker 1"));
  EXPECT_EQ(yard.pods(), "decoy-worker-0 Pending, decoy-worker-1 Pending, worker-0 Pending, stray Pending");
  yard.let("worker-0 Succeeded");
  EXPECT_EQ(yard.conditions(), "Created=True Succeeded=True");
  EXPECT_EQ(yard.pods(), "decoy-worker-0 Pending, decoy-worker-1 Pending, worker-0 Succeeded, stray Pending");
}

TEST(Kubeflow, S13_TemplateLabelsAndAnnotationsAreCopied) {
  Yard yard;
  yard.submit(with(tfjob("Worker 1"), "template: {spec",
                   "template: {metadata: {labels: {team: blue}, annotations: {note: kept}}, spec"));
  json::object pod = yard.pod("worker-0");
  EXPECT_EQ(kube::label_of(pod, "team"), "blue");
  EXPECT_EQ(kube::annotation_of(pod, "note"), "kept");
  EXPECT_EQ(kube::label_of(pod, "training.kubeflow.org/job-name"), "j");
}

// Worker 0 has succeeded; the table says what the other pods do. Differs: services go with
// the job unless the policy is None, and not only together with a pod (0010-services-end-with-the-job.md).
TEST(Kubeflow, S14_CleanupOnSuccess) {
  struct Row {
    std::string_view policy, others, pods, services;
  };
  for (const Row& row : {
           Row{"All", "Running", "", ""},
           Row{"Running", "Running", "worker-0 Succeeded", ""},
           Row{"Running", "Pending", "worker-0 Succeeded", ""},
           Row{"Running", "Succeeded", "ps-0 Succeeded, worker-0 Succeeded, worker-1 Succeeded", ""},
           Row{"None", "Succeeded", "ps-0 Succeeded, worker-0 Succeeded, worker-1 Succeeded",
               "ps-0, worker-0, worker-1"},
           Row{"None", "Running", "ps-0 Running, worker-0 Succeeded, worker-1 Running",
               "ps-0, worker-0, worker-1"},
       }) {
    SCOPED_TRACE(testing::Message() << row.policy << " while the others are " << row.others);
    Yard yard;
    yard.submit(tfjob("Worker 2, PS 1", "cleanPodPolicy: " + std::string(row.policy)));
    yard.let("* " + std::string(row.others) + "; worker-0 Succeeded");
    EXPECT_EQ(yard.conditions(), "Created=True Succeeded=True");
    EXPECT_EQ(yard.pods(), row.pods);
    EXPECT_EQ(yard.services(), row.services);
  }
}

// Differs: without a policy ours is Running, as the documents of the API say; theirs acts as
// None (0003-clean-pod-policy-default.md). A flag of the operator sets another default.
TEST(Kubeflow, S14_CleanupByDefault) {
  Yard yard;
  yard.submit(tfjob("Worker 2")).let("* Running").let("worker-0 Succeeded");
  EXPECT_EQ(yard.pods(), "worker-0 Succeeded");
  Yard as_theirs(dialect::Settings{.default_clean_policy = "None"});
  as_theirs.submit(tfjob("Worker 2")).let("* Running").let("worker-0 Succeeded");
  EXPECT_EQ(as_theirs.pods(), "worker-0 Succeeded, worker-1 Running");
}

TEST(Kubeflow, S15_ActiveDeadline) {
  Yard without;
  without.submit(tfjob("Worker 4, PS 2", "cleanPodPolicy: All")).let("* Running").after(1'000'000);
  EXPECT_EQ(without.conditions(), "Created=True Running=True");
  EXPECT_EQ(without.replicas(), "PS active=2, Worker active=4");

  Yard yard;
  yard.submit(tfjob("Worker 4, PS 2", "cleanPodPolicy: All, activeDeadlineSeconds: 2")).let("* Running");
  yard.after(1);
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  yard.after(1);
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Failed=True");
  EXPECT_EQ(yard.condition("Failed"),
            "True TFJobFailed: Job j has failed because it was active longer than specified deadline");
  EXPECT_EQ(yard.pods(), "");
  EXPECT_EQ(yard.services(), "");
}

// The restarts of parameter servers under Never are not theirs to have: they do not count.
TEST(Kubeflow, S16_BackoffLimitCountsRestartsInPlace) {
  Yard yard;
  yard.submit(tfjob("Worker 4 OnFailure, PS 2", "cleanPodPolicy: All, backoffLimit: 4")).let("* Running");
  yard.let("ps-* Restarted 5; worker-0 Restarted 1; worker-1 Restarted 1; worker-2 Restarted 1");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  yard.let("worker-3 Restarted 1");
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Failed=True");
  EXPECT_EQ(yard.condition("Failed"),
            "True TFJobFailed: Job j has failed because it has reached the specified backoff limit");
  EXPECT_EQ(yard.pods(), "");
  EXPECT_EQ(yard.services(), "");
}

TEST(Kubeflow, S17_TimeToLive) {
  for (std::string_view ending : {"Succeeded", "Failed 1"}) {
    SCOPED_TRACE(ending);
    Yard yard;
    yard.submit(tfjob("Worker 1", "ttlSecondsAfterFinished: 3")).let("worker-0 " + std::string(ending));
    yard.after(2);
    EXPECT_TRUE(yard.has_job());
    yard.after(1);
    EXPECT_FALSE(yard.has_job());
    EXPECT_EQ(yard.pods(), "");
    EXPECT_EQ(yard.events("DeleteJob"), "Normal SuccessfulDeleteJob: Deleted job: j");
  }
}

// Differs: theirs knows a finished job without completionTime, which it keeps and reports an
// error about for ever. Ours writes both at once (0011-state-on-the-object.md), and one that
// another operator left so is kept without a word and without a write.
TEST(Kubeflow, S18_CleanupOfTheJob) {
  struct Row {
    std::string_view policy;
    bool ends;
    int passed;
    bool kept;
  };
  for (const Row& row : {
           Row{"backoffLimit: 1", true, 1'000'000, true},
           Row{"suspend: true", false, 1'000'000, true},
           Row{"ttlSecondsAfterFinished: 10, suspend: true", false, 1'000'000, true},
           Row{"ttlSecondsAfterFinished: 10", false, 1'000'000, true},
           Row{"ttlSecondsAfterFinished: 180", true, 86'400, false},
           Row{"ttlSecondsAfterFinished: 0", true, 0, false},
       }) {
    SCOPED_TRACE(row.policy);
    Yard yard;
    yard.submit(tfjob("Worker 1", row.policy));
    if (row.ends) yard.let("worker-0 Succeeded");
    yard.after(row.passed);
    EXPECT_EQ(yard.has_job(), row.kept);
    EXPECT_EQ(yard.events("Failed"), "");
  }
  Yard yard;
  json::object job = parse(tfjob("Worker 1", "ttlSecondsAfterFinished: 10"));
  ASSERT_TRUE(yard.store.create(kube::kTfJobs, "ns", job, yard.now).ok());
  job = **yard.store.get(kube::kTfJobs, "ns", "j");
  job["status"] = parse("conditions: [{type: Succeeded, status: \"True\"}]");
  ASSERT_TRUE(yard.store.update_status(kube::kTfJobs, "ns", job, yard.now).ok());
  yard.settle();
  EXPECT_EQ(yard.cost_of([&] { yard.after(1'000'000); }), 0);
  EXPECT_TRUE(yard.store.get(kube::kTfJobs, "ns", "j").ok());
  EXPECT_EQ(yard.events(), "");
}

TEST(Kubeflow, S19_TheServiceOfAReplica) {
  Yard yard;
  yard.submit(tfjob("Worker 1"));
  json::object service = yard.service("worker-0");
  std::string uid(kube::uid_of(yard.job()));
  EXPECT_EQ(kube::name_of(service), "j-worker-0");
  json::object four{{"training.kubeflow.org/job-name", "j"},
                    {"training.kubeflow.org/operator-name", "tfjob-controller"},
                    {"training.kubeflow.org/replica-index", "0"},
                    {"training.kubeflow.org/replica-type", "worker"}};
  EXPECT_EQ(*kube::object_at(service, {"metadata", "labels"}), four);
  EXPECT_EQ(*kube::object_at(service, {"spec", "selector"}), four);
  EXPECT_EQ(kube::text_at(service, {"spec", "clusterIP"}), "None");
  EXPECT_EQ(json::serialize(*kube::array_at(service, {"spec", "ports"})),
            R"([{"name":"tfjob-port","port":2222}])");
  EXPECT_EQ(kube::controller_uid_of(service), uid);

  // Differs: a job without a uid is an error of theirs; ours was never stored, and what is shown of
  // it names no owner (0018-tfjob-differences.md).
  model::JobSpec shown = lowered(dialect::tfjob(), tfjob("Worker 1"));
  json::object drawn = dialect::tfjob().render_service(shown, {0, 0});
  EXPECT_EQ(kube::array_at(drawn, {"metadata", "ownerReferences"}), nullptr);
}

}  // namespace
}  // namespace trainyard::scenarios
