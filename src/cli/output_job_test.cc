#include "cli/output_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/dialects.h"
#include "cli/testing.h"
#include "kube/yaml.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

TEST(OutputJob, StatesAreReadWhicheverOperatorWroteThem) {
  struct Row {
    std::string dialect;
    std::string status;
    std::string word;
    Standing standing;
    std::string why;
  };
  for (const Row& row : {
           Row{"tfjob", "{}", "Pending", Standing::kPending, ""},
           Row{"tfjob", "{conditions: [{type: Created, status: 'True', message: m}]}", "Created",
               Standing::kPending, "m"},
           Row{"tfjob",
               "{conditions: [{type: Created, status: 'True'}, {type: Running, status: 'True', message: r}]}",
               "Running", Standing::kRunning, "r"},
           Row{"tfjob",
               "{conditions: [{type: Running, status: 'False'}, {type: Restarting, status: 'True', message: "
               "x}]}",
               "Restarting", Standing::kPending, "x"},
           Row{"tfjob",
               "{conditions: [{type: Running, status: 'False'}, {type: Failed, status: 'True', message: f}]}",
               "Failed", Standing::kFailed, "f"},
           Row{"tfjob", "{conditions: [{type: Succeeded, status: 'True'}]}", "Succeeded",
               Standing::kSucceeded, ""},
           Row{"tfjob", "{conditions: [{type: Suspended, status: 'True'}]}", "Suspended", Standing::kPaused,
               ""},
           Row{"t9k", "{}", "Pending", Standing::kPending, ""},
           Row{"t9k", "{phase: Running}", "Running", Standing::kRunning, ""},
           Row{"t9k", "{phase: Running, conditions: [{type: Running, status: 'True', reason: Restarting}]}",
               "Restarting", Standing::kPending, ""},
           Row{"t9k", "{phase: Failed, conditions: [{type: Running, status: 'False', reason: Restarting}]}",
               "Failed", Standing::kFailed, ""},
           Row{"t9k", "{phase: Paused}", "Paused", Standing::kPaused, ""},
           Row{"t9k", "{phase: Resuming}", "Resuming", Standing::kPending, ""},
           Row{"t9k", "{phase: Failed, conditions: [{type: ReplicaFailure, status: 'True', message: w}]}",
               "Failed", Standing::kFailed, "w"},
           Row{"volcano", "{state: {phase: Completed}}", "Completed", Standing::kSucceeded, ""},
           Row{"volcano", "{state: {phase: Aborted, reason: r}}", "Aborted", Standing::kPaused, "r"},
           Row{"volcano", "{state: {phase: Terminated}}", "Terminated", Standing::kFailed, ""},
           Row{"volcano", "{state: {phase: Restarting}}", "Restarting", Standing::kPending, ""},
           Row{"volcano", "{state: nonsense}", "Pending", Standing::kPending, ""},
       }) {
    JobStatus status = status_of(dialect_named(row.dialect), parsed("status: " + row.status));
    EXPECT_EQ(status.word, row.word) << row.dialect << " " << row.status;
    EXPECT_EQ(status.standing, row.standing) << row.dialect << " " << row.status;
    EXPECT_EQ(status.why, row.why) << row.dialect << " " << row.status;
  }
}

constexpr const char* kJob = R"(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: mnist, namespace: lab, uid: u, creationTimestamp: "1970-01-01T00:00:00Z", labels: {team: a}}
spec:
  tfReplicaSpecs:
    Chief:
      template: {spec: {containers: [{name: tensorflow, image: i}]}}
    Worker:
      replicas: 2
      template: {spec: {containers: [{name: tensorflow, image: i}]}}
status:
  startTime: "1970-01-01T00:00:10Z"
  conditions:
  - {type: Created, status: "True", reason: TFJobCreated, message: made, lastTransitionTime: "1970-01-01T00:00:00Z"}
  - {type: Running, status: "True", reason: TFJobRunning, message: runs, lastTransitionTime: "1970-01-01T00:00:20Z"}
)";

json::object pod(std::string_view role, int index, std::string_view phase) {
  return parsed(fmt::format(R"(
apiVersion: v1
kind: Pod
metadata:
  name: mnist-{0}-{1}
  namespace: lab
  uid: p-{0}-{1}
  creationTimestamp: "1970-01-01T00:00:05Z"
  labels:
    training.kubeflow.org/job-name: mnist
    training.kubeflow.org/operator-name: tfjob-controller
    training.kubeflow.org/replica-index: "{1}"
    training.kubeflow.org/replica-type: {0}
  ownerReferences: [{{apiVersion: kubeflow.org/v1, kind: TFJob, name: mnist, uid: u, controller: true}}]
spec: {{nodeName: n1, containers: [{{name: tensorflow, image: i}}]}}
status: {{phase: {2}, podIP: 10.0.0.{1}, startTime: "1970-01-01T00:00:06Z"}}
)",
                            role, index, phase));
}

class OnePod : public testing::Test {
 protected:
  json::object job_ = parsed(kJob);
  json::object chief_ = pod("chief", 0, "Running");
  json::object worker_ = pod("worker", 0, "Pending");
  std::vector<const json::object*> pods_{&chief_, &worker_};
  Time now_{65'000};
  JobSummary summary_ = summary_of(dialect_named("tfjob"), job_, pods_, now_);
};

TEST_F(OnePod, AJobIsOneLine) {
  EXPECT_EQ(table_of({list_heading({}), list_row(summary_, {}, now_)}),
            "NAME   KIND   STATE    READY  RESTARTS  AGE\n"
            "mnist  TFJob  Running  1/3    0         65s\n");
  EXPECT_EQ(table_of({list_heading({true, true}), list_row(summary_, {true, true}, now_)}),
            "NAMESPACE  NAME   KIND   STATE    READY  RESTARTS  AGE  RAN  ROLES                  WHY\n"
            "lab        mnist  TFJob  Running  1/3    0         65s  55s  chief 1/1, worker 0/2  runs\n");
}

TEST_F(OnePod, EverythingAboutAJob) {
  std::string text = describe_text(summary_, pods_, {"for a miracle"}, now_);
  EXPECT_THAT(text, HasSubstr("Name:        mnist\nNamespace:   lab\nKind:        TFJob (kubeflow.org/v1)\n"
                              "State:       Running\nWhy:         runs\n"));
  EXPECT_THAT(text, HasSubstr("Created:     1970-01-01T00:00:00Z (65s ago)\n"));
  EXPECT_THAT(text, HasSubstr("Labels:      team=a\n"));
  EXPECT_THAT(text, HasSubstr("Waits:       for a miracle\n"));
  EXPECT_THAT(text, HasSubstr("  REPLICA   POD             STATE"));
  EXPECT_THAT(text, HasSubstr("  chief-0   mnist-chief-0   running"));
  EXPECT_THAT(text, HasSubstr("  worker-1  -               waiting"));
  EXPECT_THAT(text, HasSubstr("Rules:\n  Success"));
  EXPECT_THAT(text, HasSubstr("  Running  True    TFJobRunning  45s    runs\n"));
}

TEST_F(OnePod, EventsOfTheJobAndItsPodsPresentAndPast) {
  auto event = [](std::string_view name, std::string_view kind, std::string_view of, std::string_view uid,
                  std::string_view last, int count) {
    return parsed(
        fmt::format("{{metadata: {{name: {}}}, involvedObject: {{kind: {}, name: {}, uid: '{}'}}, type: "
                    "Normal, reason: R, "
                    "message: \"said\\n{}\", lastTimestamp: '{}', count: {}}}",
                    name, kind, of, uid, name, last, count));
  };
  json::object late = event("late", "TFJob", "mnist", "u", "1970-01-01T00:01:00Z", 3);
  json::object early = event("early", "Pod", "mnist-worker-1", "gone", "1970-01-01T00:00:30Z", 1);
  json::object other = event("other", "TFJob", "mnist", "another", "1970-01-01T00:00:30Z", 1);
  json::object stranger = event("stranger", "Pod", "web-0", "x", "1970-01-01T00:00:30Z", 1);
  std::vector<const json::object*> own =
      events_about({&late, &early, &other, &stranger}, dialect_named("tfjob"), job_, pods_);
  EXPECT_EQ(events_text(own, now_),
            "LAST SEEN  TYPE    REASON  OBJECT              MESSAGE\n"
            "35s        Normal  R       pod/mnist-worker-1  said early\n"
            "5s (x3)    Normal  R       tfjob/mnist         said late\n");
}

TEST(OutputJob, WhatTheServerKeepsForItselfIsNotShown) {
  EXPECT_EQ(json::serialize(shown_object(parsed("{metadata: {name: a, managedFields: [{}]}}"))),
            R"({"metadata":{"name":"a"}})");
}

}  // namespace
}  // namespace trainyard::cli
