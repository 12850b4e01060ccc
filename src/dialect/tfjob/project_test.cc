#include <gmock/gmock.h>

#include "dialect/tfjob/announce.h"
#include "dialect/tfjob/project.h"
#include "dialect/tfjob/testing.h"

namespace trainyard::dialect::tf {
namespace {

using model::Phase;
using model::PodPhase;
using ::testing::ElementsAre;

// A job whose status is projected step by step, as the control loop does it.
class Story {
 public:
  explicit Story(std::string_view spec) {
    seen.spec = lowered(spec);
    state.roles.resize(seen.spec.roles.size());
  }

  Story& at(Phase phase) {
    state.phase = phase;
    return write();
  }

  Story& ends(model::ResultKind result, model::Cause cause = {}) {
    state.phase = Phase::kFinished;
    state.result = result;
    state.cause = std::move(cause);
    state.finished_at = now + seconds(1);
    return write();
  }

  Story& write() {
    now = now + seconds(1);
    if (!state.started_at && state.phase != Phase::kPaused && state.phase != Phase::kQueued)
      state.started_at = now;
    json::object fresh = tfjob().project(seen, state, status, now);
    EXPECT_EQ(tfjob().project(seen, state, fresh, now + seconds(100)), fresh)
        << "an unchanged world writes nothing";
    json::object object;
    object["status"] = fresh;
    EXPECT_EQ(tfjob().recall(seen.spec, object), state) << "what is remembered decodes back";
    status = fresh;
    return *this;
  }

  void pod(int role, int index, PodPhase phase, bool terminating = false) {
    seen.pods.push_back({.id = {role, index},
                         .name = seen.spec.pod_name({role, index}),
                         .phase = phase,
                         .terminating = terminating});
  }

  std::vector<std::string> conditions() const {
    std::vector<std::string> said;
    for (const json::value& one : status.at("conditions").as_array()) {
      said.push_back(fmt::format("{}={} {}: {}", one.at("type").as_string().c_str(),
                                 one.at("status").as_string().c_str(), one.at("reason").as_string().c_str(),
                                 one.at("message").as_string().c_str()));
    }
    return said;
  }
  json::value counts() const { return status.at("replicaStatuses"); }

  model::Observation seen;
  model::JobState state;
  json::object status;
  Time now{1'700'000'000'000};
};

constexpr std::string_view kJob = "{tfReplicaSpecs: {PS: {}, Worker: {replicas: 2}}}";
const std::string kCreated = "Created=True TFJobCreated: TFJob train is created.";
const std::string kRunning = "Running=True TFJobRunning: TFJob ns/train is running.";
const std::string kRan = "Running=False TFJobRunning: TFJob ns/train is running.";
const std::string kSucceeded = "Succeeded=True TFJobSucceeded: TFJob ns/train successfully completed.";
const std::string kRestarting =
    "Restarting=True TFJobRestarting: job train is restarting because Worker replica(s) failed.";

TEST(Conditions, ATypicalLife) {
  Story story(kJob);
  story.at(Phase::kStarting);
  EXPECT_THAT(story.conditions(), ElementsAre(kCreated));
  story.at(Phase::kRunning);
  EXPECT_THAT(story.conditions(), ElementsAre(kCreated, kRunning));
  json::value running = story.status["conditions"].at(1);
  EXPECT_EQ(running.at("lastUpdateTime"), running.at("lastTransitionTime"));
  story.ends(model::ResultKind::kSucceeded);
  EXPECT_THAT(story.conditions(), ElementsAre(kCreated, kRan, kSucceeded));
  EXPECT_EQ(story.status["conditions"].at(1).at("lastTransitionTime"), running.at("lastTransitionTime"));
  EXPECT_EQ(story.status["completionTime"].as_string(),
            story.status["conditions"].at(2).at("lastUpdateTime").as_string());
}

TEST(Conditions, AFastJobWasNeverRunning) {
  Story story(kJob);
  story.at(Phase::kStarting).ends(model::ResultKind::kSucceeded);
  EXPECT_THAT(story.conditions(), ElementsAre(kCreated, kSucceeded));
}

TEST(Conditions, RestartingAndRunningReplaceOneAnother) {
  Story story(kJob);
  story.at(Phase::kStarting).at(Phase::kRunning);
  story.state.cause = {
      .kind = model::CauseKind::kReplicaFailed, .role = "worker", .index = 1, .exit_code = 137};
  story.at(Phase::kRestarting);
  EXPECT_THAT(story.conditions(), ElementsAre(kCreated, kRestarting));
  story.at(Phase::kRunning);
  EXPECT_THAT(story.conditions(), ElementsAre(kCreated, kRunning));
  story.at(Phase::kRestarting).ends(model::ResultKind::kSucceeded);
  EXPECT_THAT(
      story.conditions(),
      ElementsAre(kCreated,
                  "Restarting=False TFJobRestarting: job train is restarting because Worker replica(s) "
                  "failed.",
                  kSucceeded));
}

TEST(Conditions, SuspendedFromBirth) {
  Story story(kJob);
  story.at(Phase::kPaused);
  EXPECT_THAT(story.conditions(),
              ElementsAre(kCreated, "Suspended=True TFJobSuspended: TFJob train is suspended."));
  EXPECT_FALSE(story.status.contains("startTime"));
  EXPECT_FALSE(story.status.contains("replicaStatuses"));
}

TEST(Conditions, SuspendAndResume) {
  const std::string resumed = "Suspended=False TFJobResumed: TFJob train is resumed.";
  Story story(kJob);
  story.at(Phase::kStarting).at(Phase::kRunning).at(Phase::kPausing);
  EXPECT_THAT(story.conditions(),
              ElementsAre(kCreated, "Running=False TFJobSuspended: TFJob train is suspended.",
                          "Suspended=True TFJobSuspended: TFJob train is suspended."));
  json::object paused = story.status;
  story.at(Phase::kPaused);
  EXPECT_EQ(story.status["conditions"], paused["conditions"]);
  story.at(Phase::kResuming);
  EXPECT_THAT(story.conditions(),
              ElementsAre(kCreated, "Running=False TFJobSuspended: TFJob train is suspended.", resumed));
  story.at(Phase::kRunning);
  EXPECT_THAT(story.conditions(), ElementsAre(kCreated, resumed, kRunning));
}

TEST(Conditions, HowAFailureIsTold) {
  using model::CauseKind;
  const std::pair<model::Cause, std::string> cases[] = {
      {{.kind = CauseKind::kReplicaFailed, .role = "worker", .failed_count = 2},
       "TFJob ns/train has failed because 2 Worker replica(s) failed."},
      {{.kind = CauseKind::kReplicaDisrupted, .role = "ps", .failed_count = 1},
       "TFJob ns/train has failed because 1 PS replica(s) failed."},
      {{.kind = CauseKind::kReplicaPermanent, .role = "worker"},
       "job \"train\" is failing because \"Worker\" replica(s) failed."},
      {{.kind = CauseKind::kBudgetSpent},
       "Job train has failed because it has reached the specified backoff limit"},
      {{.kind = CauseKind::kDeadline},
       "Job train has failed because it was active longer than specified deadline"},
      {{.kind = CauseKind::kNothingLeft},
       "TFJob ns/train has failed because every replica has ended and none brought success."},
  };
  for (const auto& [cause, text] : cases) {
    Story story(kJob);
    story.at(Phase::kStarting).at(Phase::kRunning).ends(model::ResultKind::kFailed, cause);
    EXPECT_THAT(story.conditions(), ElementsAre(kCreated, kRan, "Failed=True TFJobFailed: " + text));
    std::optional<EventText> event =
        tfjob().announce(story.seen.spec, {.kind = model::NoteKind::kJobFailed, .cause = cause});
    ASSERT_TRUE(event);
    EXPECT_EQ(event->message, text);
    EXPECT_EQ(event->warning, cause.kind == CauseKind::kReplicaPermanent);
  }
}

TEST(Conditions, TheEndIsTheEnd) {
  Story story(kJob);
  story.at(Phase::kStarting).ends(model::ResultKind::kFailed, {.kind = model::CauseKind::kDeadline});
  std::vector<std::string> ended = story.conditions();
  json::object back = story.status;
  for (Phase phase : {Phase::kRunning, Phase::kRestarting, Phase::kPaused, Phase::kResuming}) {
    model::JobState forgetful = story.state;
    forgetful.result.reset();
    forgetful.phase = phase;
    EXPECT_EQ(tfjob().project(story.seen, forgetful, back, story.now)["conditions"], back["conditions"]);
  }
}

TEST(Counts, ZeroIsLeftOutAndTerminatingIsNotFailed) {
  Story story(kJob);
  story.pod(0, 0, PodPhase::kRunning);
  story.pod(1, 0, PodPhase::kRunning, /*terminating=*/true);
  story.pod(1, 1, PodPhase::kSucceeded);
  story.at(Phase::kStarting);
  EXPECT_EQ(story.counts(), json::parse(R"({"PS":{"active":1},"Worker":{"succeeded":1}})"));
}

TEST(Counts, OnSuccessWhoStillRunsHasSucceeded) {
  Story story(kJob);
  story.pod(0, 0, PodPhase::kRunning);
  story.pod(1, 0, PodPhase::kSucceeded);
  story.pod(1, 1, PodPhase::kPending);
  story.at(Phase::kStarting).ends(model::ResultKind::kSucceeded);
  EXPECT_EQ(story.counts(), json::parse(R"({"PS":{"succeeded":1},"Worker":{"succeeded":1}})"));
  story.seen.pods.clear();
  story.write();
  EXPECT_EQ(story.counts(), json::parse(R"({"PS":{"succeeded":1},"Worker":{"succeeded":1}})"));
}

TEST(Counts, AfterAFailureOnlyActiveFalls) {
  Story story(kJob);
  story.pod(0, 0, PodPhase::kRunning);
  story.pod(1, 0, PodPhase::kFailed);
  story.pod(1, 1, PodPhase::kRunning);
  story.at(Phase::kStarting)
      .ends(model::ResultKind::kFailed, {.kind = model::CauseKind::kReplicaFailed, .role = "worker"});
  EXPECT_EQ(story.counts(), json::parse(R"({"PS":{"active":1},"Worker":{"active":1,"failed":1}})"));
  story.seen.pods.clear();
  story.write();
  EXPECT_EQ(story.counts(), json::parse(R"({"PS":{},"Worker":{"failed":1}})"));
}

TEST(Counts, ASuspendedJobHasNoneActive) {
  Story story(kJob);
  story.pod(0, 0, PodPhase::kRunning);
  story.at(Phase::kStarting).at(Phase::kPausing);
  EXPECT_EQ(story.counts(), json::parse(R"({"PS":{},"Worker":{}})"));
}

// An autoscaler takes no kind whose scale tells no selector.
TEST(Counts, DynamicWorkersAreFoundByASelector) {
  Story story("{enableDynamicWorker: true, tfReplicaSpecs: {PS: {}, Worker: {replicas: 2}}}");
  story.pod(1, 0, PodPhase::kRunning);
  story.at(Phase::kStarting);
  const json::value counts = json::parse(
      R"({"PS":{},"Worker":{"active":1,"selector":"training.kubeflow.org/job-name=train,)"
      R"(training.kubeflow.org/operator-name=tfjob-controller,training.kubeflow.org/replica-type=worker"}})");
  EXPECT_EQ(story.counts(), counts);
  story.ends(model::ResultKind::kFailed, {.kind = model::CauseKind::kReplicaFailed, .role = "worker"});
  EXPECT_EQ(story.counts(), counts);
}

TEST(Status, WhatOthersWroteStays) {
  Story story(kJob);
  story.status = from_json(R"({"lastReconcileTime":"2020-01-01T00:00:00Z","somethingElse":[1]})");
  story.at(Phase::kStarting);
  EXPECT_EQ(story.status["lastReconcileTime"].as_string(), "2020-01-01T00:00:00Z");
  EXPECT_EQ(story.status["somethingElse"], json::parse("[1]"));
}

TEST(Status, AJobThatAnotherOperatorFinishedIsFinished) {
  model::JobSpec spec = lowered(kJob);
  json::object object =
      from_json(R"({"status":{"startTime":"2019-07-16T02:44:38Z","completionTime":"2019-07-16T02:45:23Z",
      "conditions":[{"type":"Created","status":"True"},{"type":"Running","status":"False"},{"type":"Succeeded","status":"True"}]}})");
  model::JobState state = tfjob().recall(spec, object);
  EXPECT_EQ(state.phase, Phase::kFinished);
  EXPECT_EQ(state.result, model::ResultKind::kSucceeded);
  EXPECT_EQ(state.finished_at, parse_rfc3339("2019-07-16T02:45:23Z"));
  EXPECT_EQ(state.roles.size(), 2u);
  object["status"].as_object()["conditions"].as_array().pop_back();
  state = tfjob().recall(spec, object);
  EXPECT_EQ(state.result, std::nullopt);
  EXPECT_EQ(state.started_at, parse_rfc3339("2019-07-16T02:44:38Z"));
}

TEST(Status, RecallNeverFails) {
  model::JobSpec spec = lowered(kJob);
  for (std::string_view text : {R"({})", R"({"status":7})", R"({"status":{"trainyard":[]}})",
                                R"({"status":{"trainyard":{"phase":9,"replicas":"x"}}})",
                                R"({"status":{"conditions":[{"type":3}],"startTime":"never"}})"}) {
    EXPECT_EQ(tfjob().recall(spec, from_json(text)).roles.size(), 2u) << text;
  }
}

struct EventCase {
  model::Note note;
  bool warning;
  std::string reason;
  std::string message;
  std::vector<std::string> joins = {};
};

TEST(Announce, Words) {
  using model::NoteKind;
  model::JobSpec spec = lowered(kJob);
  const EventCase cases[] = {
      {{.kind = NoteKind::kPodCreated, .object = "train-ps-0"},
       false,
       "SuccessfulCreatePod",
       "Created pod: train-ps-0"},
      {{.kind = NoteKind::kPodCreateFailed, .object = "train-ps-0", .text = "quota"},
       true,
       "FailedCreatePod",
       "Error creating: quota"},
      {{.kind = NoteKind::kPodDeleted, .object = "train-ps-0"},
       false,
       "SuccessfulDeletePod",
       "Deleted pod: train-ps-0",
       {"TFJobSucceeded"}},
      {{.kind = NoteKind::kPodDeleteFailed, .text = "no"}, true, "FailedDeletePod", "Error deleting: no"},
      {{.kind = NoteKind::kServiceCreated, .object = "s"},
       false,
       "SuccessfulCreateService",
       "Created service: s"},
      {{.kind = NoteKind::kServiceCreateFailed, .text = "no"},
       true,
       "FailedCreateService",
       "Error creating: no"},
      {{.kind = NoteKind::kServiceDeleted, .object = "s"},
       false,
       "SuccessfulDeleteService",
       "Deleted service: s",
       {"TFJobSucceeded", "SuccessfulDeletePod"}},
      {{.kind = NoteKind::kServiceDeleteFailed, .text = "no"},
       true,
       "FailedDeleteService",
       "Error deleting: no"},
      {{.kind = NoteKind::kReplicaEnded, .replica = model::ReplicaId{1, 1}, .exit_code = 137},
       false,
       "ExitedWithCode",
       "Pod: ns.train-worker-1 exited with code 137"},
      {{.kind = NoteKind::kReplicaDisrupted, .replica = model::ReplicaId{1, 1}, .text = "Evicted"},
       true,
       "ReplicaDisrupted",
       "Pod: ns.train-worker-1 was disrupted: Evicted"},
      {{.kind = NoteKind::kJobRestarting, .cause = {.role = "worker"}},
       true,
       "TFJobRestarting",
       "job train is restarting because Worker replica(s) failed."},
      {{.kind = NoteKind::kJobSucceeded}, false, "TFJobSucceeded", "TFJob ns/train successfully completed."},
      {{.kind = NoteKind::kJobPaused}, false, "TFJobSuspended", "TFJob train is suspended."},
      {{.kind = NoteKind::kJobResumed}, false, "TFJobResumed", "TFJob train is resumed."},
      {{.kind = NoteKind::kAdvice, .reason = "R", .text = "t"}, true, "R", "t"},
      {{.kind = NoteKind::kGangDeleted, .object = "train"},
       false,
       "SuccessfulDeletePodGroup",
       "Deleted PodGroup: train"},
      {{.kind = NoteKind::kJobExpired}, false, "SuccessfulDeleteJob", "Deleted job: train"},
      {{.kind = NoteKind::kJobExpireFailed, .text = "no"}, true, "FailedDeleteJob", "Error deleting: no"},
      {{.kind = NoteKind::kInvalidSpec, .text = "spec: x"},
       true,
       "TFJobFailedValidation",
       "TFJob failed validation because spec: x"},
  };
  for (const EventCase& one : cases) {
    EXPECT_EQ(tfjob().announce(spec, one.note), (EventText{one.warning, one.reason, one.message, one.joins}));
  }
  for (NoteKind silent : {NoteKind::kJobCreated, NoteKind::kJobRunning, NoteKind::kJobInitialized}) {
    EXPECT_EQ(tfjob().announce(spec, {.kind = silent}), std::nullopt);
  }
}

}  // namespace
}  // namespace trainyard::dialect::tf
