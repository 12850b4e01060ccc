#include "dialect/t9k/project.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/t9k/name.h"
#include "dialect/t9k/status_conditions.h"
#include "dialect/t9k/testing.h"
#include "kube/access.h"

namespace trainyard::t9k {
namespace {

using model::CauseKind;
using model::JobState;
using model::Phase;
using model::PodPhase;
using model::ResultKind;
using ::testing::ElementsAre;
using testing::ended;
using testing::from_yaml;
using testing::in_phase;
using testing::job;
using testing::kNow;
using testing::kPrefix;
using testing::pod;
using testing::replica_spec;
using testing::world;

const Time kLater = testing::kNow + seconds(100);

// "Type=Status reason: message" of every condition, in order.
std::vector<std::string> told(const json::object& status) {
  std::vector<std::string> lines;
  for (const json::value& value : status.at("conditions").as_array()) {
    const json::object& c = value.as_object();
    lines.push_back(fmt::format("{}={} {}: {}", kube::text_at(c, {"type"}), kube::text_at(c, {"status"}),
                                kube::text_at(c, {"reason"}), kube::text_at(c, {"message"})));
  }
  return lines;
}

std::string phase_of(const json::object& status) { return std::string(kube::text_at(status, {"phase"})); }

constexpr const char* kInit = "Initialized=True -: The job has been initialized successfully.";
constexpr const char* kNoFailure = "ReplicaFailure=False -: No pod has failed.";

TEST(T9kProject, Pending) {
  model::Observation seen = world(job(replica_spec("worker", 1)));
  json::object status = project(seen, in_phase(seen, Phase::kStarting, false), {}, kNow);
  EXPECT_EQ(phase_of(status), "Pending");
  EXPECT_THAT(told(status),
              ElementsAre("Initialized=False Creating: The job is creating its pods.",
                          "Running=False Pending: Waiting for the pods to start.",
                          "Completed=False NotFinished: The job has not started yet.", kNoFailure));
}

TEST(T9kProject, WhatHasRunIsNotPendingWhileADeletedPodIsMadeAgain) {
  model::Observation seen = world(job(replica_spec("worker", 1)));
  json::object ran = project(seen, in_phase(seen, Phase::kRunning), {}, kNow);
  for (Phase phase : {Phase::kQueued, Phase::kStarting}) {
    json::object status = project(seen, in_phase(seen, phase), ran, kLater);
    EXPECT_EQ(phase_of(status), "Running");
    EXPECT_THAT(told(status), ::testing::Contains("Running=True Restarting: Pods are being started again."));
    EXPECT_EQ(project(seen, in_phase(seen, phase), status, kLater + seconds(1)), status);
  }
}

TEST(T9kProject, PendingInTheQueueSaysWhatTheSchedulerSays) {
  model::Observation seen = world(job(replica_spec("worker", 1), "  scheduler: {t9kScheduler: {}}\n"));
  seen.gang = model::GangSeen{.message = "3 of 4 members are there"};
  EXPECT_THAT(
      told(project(seen, in_phase(seen, Phase::kQueued), {}, kNow)),
      ElementsAre(kInit,
                  "Running=False Pending: The scheduler has not placed all pods: 3 of 4 members are there",
                  "Completed=False NotFinished: The job has not started yet.", kNoFailure));
}

TEST(T9kProject, Running) {
  model::Observation seen = world(job(replica_spec("worker", 1)));
  json::object status = project(seen, in_phase(seen, Phase::kRunning), {}, kNow);
  EXPECT_EQ(phase_of(status), "Running");
  EXPECT_THAT(
      told(status),
      ElementsAre(kInit, "Running=True -: All pods are running normally or have completed successfully.",
                  "Completed=False NotFinished: The job is still running.",
                  "ReplicaFailure=False -: All pods are running normally or have completed successfully."));
}

TEST(T9kProject, RunningWithAReplicaThatIsNotStartedAgain) {
  model::Observation seen = world(job(replica_spec("worker", 2)));
  JobState state = in_phase(seen, Phase::kRunning);
  model::ReplicaRecord& record = state.record({0, 1});
  record.outcome = model::Outcome::kFailed;
  record.exit_code = 127;
  json::object status = project(seen, state, {}, kNow);
  EXPECT_EQ(phase_of(status), "Running");
  EXPECT_THAT(told(status),
              ElementsAre(kInit, "Running=True -: The job is running, though not all of its pods are.",
                          "Completed=False NotFinished: The job is still running.",
                          "ReplicaFailure=True ErrorInPod: Pod[" + kPrefix +
                              "-worker-1] exited with error code 127"));
}

TEST(T9kProject, Restarting) {
  model::Observation seen = world(job(replica_spec("worker", 2, "OnFailure")));
  JobState state = in_phase(seen, Phase::kRestarting);
  state.cause = {.kind = CauseKind::kReplicaFailed, .role = "worker", .index = 0, .exit_code = 137};
  state.restarts = 2;
  state.roles[0].restarts = 2;
  json::object status = project(seen, state, {}, kNow);
  EXPECT_EQ(phase_of(status), "Running");
  EXPECT_THAT(told(status), ElementsAre(kInit, "Running=True Restarting: Pods are being started again.",
                                        "Completed=False NotFinished: The job is still running.",
                                        "ReplicaFailure=True ErrorInPod: Pod[" + kPrefix +
                                            "-worker-0] exited with error code 137"));
  EXPECT_EQ(kube::int_at(status, {"backoffCount"}), 2);
  EXPECT_EQ(status.at("tasks").as_array()[0].at("restartCount"), 2);

  state.cause = {.kind = CauseKind::kReplicaDisrupted, .role = "worker", .index = 1, .detail = "Evicted"};
  EXPECT_EQ(told(project(seen, state, status, kLater))[3],
            "ReplicaFailure=True Disrupted: Pod[" + kPrefix + "-worker-1] was disrupted: Evicted");
}

TEST(T9kProject, PausedAndResumed) {
  model::Observation seen = world(job(replica_spec("worker", 1), "  runMode: {pause: {enabled: true}}\n"));
  json::object paused = project(seen, in_phase(seen, Phase::kPaused), {}, kNow);
  EXPECT_EQ(phase_of(paused), "Paused");
  EXPECT_THAT(told(paused), ElementsAre(kInit, "Running=False Paused: The job is paused.",
                                        "Completed=False NotFinished: The job is paused.", kNoFailure,
                                        "Paused=True -: The job is paused."));
  EXPECT_EQ(phase_of(project(seen, in_phase(seen, Phase::kPausing), {}, kNow)), "Paused");

  JobState state = in_phase(seen, Phase::kResuming);
  state.resumes = 1;
  json::object resuming = project(seen, state, paused, kLater);
  EXPECT_EQ(phase_of(resuming), "Resuming");
  EXPECT_THAT(told(resuming), ElementsAre(kInit, "Running=False Resuming: Waiting for the pods to start.",
                                          "Completed=False NotFinished: The job is resuming.", kNoFailure,
                                          "Paused=False -: The job is not paused."));
  state.phase = Phase::kRunning;
  EXPECT_EQ(phase_of(project(seen, state, resuming, kLater)), "Running");
}

TEST(T9kProject, CreatedPaused) {
  model::Observation seen = world(job(replica_spec("worker", 3), "  runMode: {pause: {enabled: true}}\n"));
  json::object status = project(seen, in_phase(seen, Phase::kPaused, false), {}, kNow);
  EXPECT_EQ(told(status)[0], "Initialized=False Paused: The job is paused.");
}

struct FailureCase {
  model::Cause cause;
  std::string message;       // after "TensorFlowTrainingJob train has failed: "; P is the prefix
  std::string replica_line;  // the ReplicaFailure condition
};

std::string spell(std::string text) {
  for (size_t at; (at = text.find("P-")) != std::string::npos;) text.replace(at, 2, kPrefix + "-");
  return text;
}

TEST(T9kProject, Failures) {
  const FailureCase cases[] = {
      {{.kind = CauseKind::kReplicaFailed, .role = "chief", .index = 0, .exit_code = 1},
       "P-chief-0 failed with exit code 1",
       "True ErrorInPod: Pod[P-chief-0] exited with error code 1"},
      {{.kind = CauseKind::kReplicaPermanent, .role = "chief", .index = 0, .exit_code = 127},
       "P-chief-0 failed with exit code 127",
       "True ErrorInPod: Pod[P-chief-0] exited with error code 127"},
      {{.kind = CauseKind::kReplicaFailed, .role = "chief", .index = 0, .detail = "StartError"},
       "P-chief-0 failed: StartError",
       "True ErrorInPod: Pod[P-chief-0] failed: StartError"},
      {{.kind = CauseKind::kBudgetSpent, .role = "chief", .index = 0, .exit_code = 137},
       "P-chief-0 failed with exit code 137, and backoffLimit 3 allows no more restarts",
       "True ErrorInPod: Pod[P-chief-0] exited with error code 137"},
      {{.kind = CauseKind::kReplicaDisrupted, .role = "chief", .index = 0, .detail = "Evicted"},
       "P-chief-0 was disrupted: Evicted",
       "True Disrupted: Pod[P-chief-0] was disrupted: Evicted"},
      {{.kind = CauseKind::kDeadline},
       "it has run longer than activeDeadlineSeconds 60",
       "False -: No pod has failed."},
  };
  model::Observation seen = world(job(replica_spec("chief", 1) + replica_spec("worker", 1),
                                      "  runPolicy: {activeDeadlineSeconds: 60}\n"));
  for (const FailureCase& c : cases) {
    json::object status = project(seen, ended(seen, ResultKind::kFailed, c.cause), {}, kNow);
    std::string message = "TensorFlowTrainingJob train has failed: " + spell(c.message);
    EXPECT_EQ(phase_of(status), "Failed");
    EXPECT_THAT(told(status),
                ElementsAre(kInit, "Running=False Failed: " + message, "Failed=True Failed: " + message,
                            "Completed=True Failed: " + message, "ReplicaFailure=" + spell(c.replica_line)));
  }
}

// The status that T9k's own page shows for a job that succeeded, with its times.
TEST(T9kProject, SucceededIsWhatThePageShows) {
  model::Observation seen = world(job(replica_spec("worker", 1)));
  Time initialized = *parse_rfc3339("2023-12-19T02:40:25Z");
  Time finished = *parse_rfc3339("2023-12-19T02:53:14Z");
  json::object status = project(seen, in_phase(seen, Phase::kStarting), {}, initialized);
  status = project(seen, in_phase(seen, Phase::kRunning), status, initialized + seconds(30));
  status = project(seen, ended(seen, ResultKind::kSucceeded), status, finished);
  json::object expected = from_yaml(R"(
conditions:
- lastTransitionTime: "2023-12-19T02:40:25Z"
  message: The job has been initialized successfully.
  reason: '-'
  status: "True"
  type: Initialized
- lastTransitionTime: "2023-12-19T02:53:14Z"
  message: The job has finished successfully.
  reason: Succeeded
  status: "False"
  type: Running
- lastTransitionTime: "2023-12-19T02:53:14Z"
  message: The job has finished successfully.
  reason: Succeeded
  status: "False"
  type: Failed
- lastTransitionTime: "2023-12-19T02:53:14Z"
  message: The job has finished successfully.
  reason: Succeeded
  status: "True"
  type: Completed
- lastTransitionTime: "2023-12-19T02:40:25Z"
  message: All pods are running normally.
  reason: '-'
  status: "False"
  type: ReplicaFailure
phase: Succeeded
)");
  EXPECT_EQ(status["conditions"], expected["conditions"]);
  EXPECT_EQ(status["phase"], expected["phase"]);
}

// The page's examples of tasks, aggregate and tensorboard.
TEST(T9kProject, ReplicasAndTensorBoardAreWhatThePageShows) {
  json::object object = job(replica_spec("worker", 1), "  tensorboardSpec: {image: tb}\n");
  object["metadata"].as_object()["name"] = "mnist-trainingjob";
  model::Observation seen = world(object);
  seen.spec.pod_prefix = "mnist-trainingjob-5b373";
  seen.spec.tensorboard = seen.spec.pod_prefix;
  model::PodSeen worker = pod(seen, {0, 0}, PodPhase::kSucceeded);
  worker.uid = "d39f91d6-9c48-4c57-bb71-4131226395b6";
  worker.containers = {{.name = "pytorch", .phase = model::ContainerPhase::kTerminated, .exit_code = 0}};
  seen.pods = {worker};
  seen.tensorboard =
      model::TensorBoardSeen{"mnist-trainingjob-5b373", "b09378f3-2164-4f14-a425-a1340fa32d7d", true};
  json::object status = project(seen, ended(seen, ResultKind::kSucceeded), {}, kNow);
  json::object expected = from_yaml(R"(
tasks:
- replicas:
  - containers:
    - exitCode: 0
      name: pytorch
      state: Terminated
    name: mnist-trainingjob-5b373-worker-0
    phase: Succeeded
    uid: d39f91d6-9c48-4c57-bb71-4131226395b6
  type: worker
tensorboard:
  action: NOP
  dependent:
    apiVersion: tensorstack.dev/v1beta1
    kind: TensorBoard
    name: mnist-trainingjob-5b373
    namespace: demo
    uid: b09378f3-2164-4f14-a425-a1340fa32d7d
  note: TensorBoard [mnist-trainingjob-5b373] is ready
  ready: true
  reason: DependentReady
  type: Normal
)");
  EXPECT_EQ(status["tasks"], expected["tasks"]);
  EXPECT_EQ(status["tensorboard"], expected["tensorboard"]);

  model::Observation three = world(job(replica_spec("worker", 3)));
  three.pods = {pod(three, {0, 0}, PodPhase::kRunning), pod(three, {0, 1}, PodPhase::kRunning),
                pod(three, {0, 2}, PodPhase::kPending)};
  EXPECT_EQ(project(three, in_phase(three, Phase::kStarting), {}, kNow)["aggregate"],
            json::value(from_yaml(
                "{creating: 0, deleted: 0, failed: 0, pending: 1, running: 2, succeeded: 0, unknown: 0}")));
}

TEST(T9kProject, TensorBoardOnItsWay) {
  model::Observation seen = world(job(replica_spec("worker", 1), "  tensorboardSpec: {image: tb}\n"));
  auto shown = [&] {
    json::object status = project(seen, in_phase(seen, Phase::kRunning), {}, kNow);
    const json::object& board = status.at("tensorboard").as_object();
    return fmt::format("{} {} {}: {}", kube::text_at(board, {"action"}), *kube::bool_at(board, {"ready"}),
                       kube::text_at(board, {"reason"}), kube::text_at(board, {"note"}));
  };
  EXPECT_EQ(shown(), "Create false DependentNotFound: TensorBoard [" + kPrefix + "] is being created");
  seen.tensorboard = model::TensorBoardSeen{kPrefix, "u", false};
  EXPECT_EQ(shown(), "NOP false DependentNotReady: TensorBoard [" + kPrefix + "] is not ready");
}

TEST(T9kProject, TimesMoveOnlyWhenAStatusFlips) {
  model::Observation seen = world(job(replica_spec("worker", 1)));
  json::object status = project(seen, in_phase(seen, Phase::kRunning), {}, kNow);
  json::object again = project(seen, in_phase(seen, Phase::kRestarting), status, kLater);
  EXPECT_EQ(again["conditions"].as_array()[1].at("lastTransitionTime"),
            status["conditions"].as_array()[1].at("lastTransitionTime"))
      << "still Running, with other words";
}

TEST(T9kProject, WhatOthersWroteIsKept) {
  model::Observation seen = world(job(replica_spec("worker", 1)));
  json::object previous = from_yaml(
      "{other: {a: 1}, conditions: [{type: Foreign, status: 'True', x: 1}, 7], tensorboard: {ready: true}}");
  json::object status = project(seen, in_phase(seen, Phase::kRunning), previous, kNow);
  EXPECT_EQ(status["other"], previous["other"]);
  EXPECT_EQ(status["conditions"].as_array().back(), previous["conditions"].as_array()[0]);
  EXPECT_FALSE(status.contains("tensorboard")) << "the job asks for none";
}

TEST(T9kProject, AnEndIsNeverTakenBack) {
  model::Observation seen = world(job(replica_spec("worker", 1)));
  json::object status = project(seen, ended(seen, ResultKind::kSucceeded), {}, kNow);
  EXPECT_EQ(project(seen, in_phase(seen, Phase::kRunning), status, kLater), status);
  JobState failed = ended(seen, ResultKind::kFailed, {.kind = CauseKind::kDeadline});
  EXPECT_EQ(phase_of(project(seen, failed, status, kLater)), "Succeeded");
}

TEST(T9kProject, AJobFinishedByAnotherOperatorStaysFinished) {
  json::object object = job(replica_spec("worker", 2));
  object["status"] = from_yaml(
      "{phase: Failed, backoffCount: 4, tasks: [{type: worker, restartCount: 4}, {type: ps}, 3], conditions: "
      "["
      "{type: Initialized, status: 'True', lastTransitionTime: '2023-12-19T02:40:25Z'},"
      "{type: Completed, status: 'True', reason: Failed, message: theirs, lastTransitionTime: "
      "'2023-12-19T02:53:14Z'}"
      "]}");
  model::Observation seen = world(object);
  JobState state = recall(seen.spec, object);
  EXPECT_EQ(state.phase, Phase::kFinished);
  EXPECT_EQ(state.result, ResultKind::kFailed);
  EXPECT_EQ(state.restarts, 4);
  EXPECT_EQ(state.roles[0].restarts, 4);
  EXPECT_TRUE(state.initialized);
  EXPECT_EQ(state.started_at, parse_rfc3339("2023-12-19T02:40:25Z"));
  EXPECT_EQ(state.finished_at, parse_rfc3339("2023-12-19T02:53:14Z"));
  json::object status = project(seen, state, object["status"].as_object(), kNow);
  EXPECT_EQ(status["conditions"], object["status"].at("conditions")) << "their words stay";
}

TEST(T9kProject, AnInvalidSpecIsToldAndEndsNothing) {
  std::vector<dialect::Problem> problems{{"spec.a", dialect::ProblemKind::kInvalid, "1", "no"},
                                         {"spec.b", dialect::ProblemKind::kRequired, "", "yes"}};
  json::object object = job(replica_spec("worker", 1));
  json::object fresh = project_invalid(object, problems, kNow);
  EXPECT_EQ(phase_of(fresh), "Pending");
  EXPECT_THAT(
      told(fresh),
      ElementsAre("Failed=True InvalidSpec: spec.a: Invalid value: 1: no; spec.b: Required value: yes"));
  object["status"] = fresh;
  EXPECT_EQ(project_invalid(object, problems, kLater), fresh);

  model::Observation seen = world(job(replica_spec("worker", 1)));
  json::object running = project(seen, in_phase(seen, Phase::kRunning), {}, kNow);
  object["status"] = running;
  json::object told_now = project_invalid(object, problems, kLater);
  EXPECT_EQ(phase_of(told_now), "Running");
  EXPECT_EQ(told_now["trainyard"], running["trainyard"]) << "what was remembered is not lost";
  EXPECT_EQ(project(seen, in_phase(seen, Phase::kRunning), told_now, kLater), running)
      << "mended, it is as before";

  object["status"] = project(seen, ended(seen, ResultKind::kSucceeded), running, kNow);
  EXPECT_EQ(project_invalid(object, problems, kLater), object["status"]);
}

TEST(T9kProject, ManyProblemsAreCutShort) {
  std::vector<dialect::Problem> problems(1000, {"spec.a", dialect::ProblemKind::kInvalid, "1", "no"});
  std::string line = told(project_invalid({}, problems, kNow))[0];
  EXPECT_THAT(line, ::testing::EndsWith("; and 980 more"));
  EXPECT_LT(line.size(), 2000u);
}

}  // namespace
}  // namespace trainyard::t9k
