#include "dialect/volcano/project.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/volcano/testing.h"

namespace trainyard::dialect::vc {
namespace {

using model::JobState;
using model::Phase;
using model::PodPhase;
using model::ResultKind;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::from_yaml;
using testing::job;
using testing::kNow;
using testing::lowered;
using testing::observed;
using testing::pod;
using testing::task;
using testing::usual_job;

JobState state_in(const model::JobSpec& spec, Phase phase) {
  JobState state = model::decode_state(spec, {});
  state.phase = phase;
  return state;
}

std::vector<std::string> conditions(const json::object& status) {
  std::vector<std::string> all;
  const json::array* list = kube::array_at(status, {"conditions"});
  if (list == nullptr) return all;
  for (const json::value& entry : *list) all.emplace_back(kube::text_at(entry.get_object(), {"status"}));
  return all;
}

std::string phase(const json::object& status) {
  return std::string(kube::text_at(status, {"state", "phase"}));
}

// The status without our memory and without times: what a recording shows.
json::object shown(json::object status) {
  kube::ensure_object(status, {"controlledResources"}).erase("trainyard.dev/state");
  if (status["controlledResources"].get_object().empty()) status.erase("controlledResources");
  status.erase("conditions");
  kube::ensure_object(status, {"state"}).erase("lastTransitionTime");
  return status;
}

TEST(Project, EveryPhase) {
  model::JobSpec spec = lowered(usual_job());
  struct Case {
    Phase in;
    std::optional<ResultKind> result;
    std::string_view word;
  };
  for (const Case& c : std::initializer_list<Case>{
           {Phase::kNew, {}, "Pending"},
           {Phase::kQueued, {}, "Pending"},
           {Phase::kStarting, {}, "Pending"},
           {Phase::kRunning, {}, "Running"},
           {Phase::kRestarting, {}, "Pending"},
           {Phase::kResuming, {}, "Pending"},
           {Phase::kPausing, {}, "Aborting"},
           {Phase::kPaused, {}, "Aborted"},
           {Phase::kCompleting, ResultKind::kSucceeded, "Completing"},
           {Phase::kTerminating, ResultKind::kTerminated, "Terminating"},
           {Phase::kFinished, ResultKind::kSucceeded, "Completed"},
           {Phase::kFinished, ResultKind::kFailed, "Failed"},
           {Phase::kFinished, ResultKind::kTerminated, "Terminated"},
       }) {
    JobState state = state_in(spec, c.in);
    state.result = c.result;
    EXPECT_EQ(phase(project(observed(spec), state, {}, kNow)), c.word);
  }
}

TEST(Project, RestartingWhileOldPodsRemain) {  // recorded: 04
  model::JobSpec spec = lowered(usual_job());
  JobState state = state_in(spec, Phase::kRestarting);
  state.attempt = state.floor = 1;
  state.restarts = state.kills = 1;
  model::PodSeen ps = pod(spec, 0, 0, PodPhase::kRunning);
  ps.terminating = true;
  model::PodSeen worker = pod(spec, 1, 0, PodPhase::kPending);
  worker.attempt = 1;
  EXPECT_EQ(
      shown(project(observed(spec, {ps, worker}), state, {}, kNow)),
      from_yaml("{minAvailable: 3, pending: 1, retryCount: 1, state: {phase: Restarting}, taskStatusCount: "
                "{worker: {phase: {Pending: 1}}}, terminating: 1, version: 1}"));
  EXPECT_EQ(phase(project(observed(spec, {worker}), state, {}, kNow)), "Pending");
}

TEST(Project, Counts) {  // recorded: 01
  model::JobSpec spec = lowered(usual_job("  plugins: {env: [], svc: []}\n"));
  std::vector<model::PodSeen> pods = {pod(spec, 0, 0, PodPhase::kRunning),
                                      pod(spec, 1, 0, PodPhase::kSucceeded),
                                      pod(spec, 1, 1, PodPhase::kRunning)};
  EXPECT_EQ(
      shown(project(observed(spec, pods), state_in(spec, Phase::kRunning), {}, kNow)),
      from_yaml(
          "{controlledResources: {plugin-env: env, plugin-svc: svc}, minAvailable: 3, running: 2, state: "
          "{phase: Running}, succeeded: 1, taskStatusCount: {ps: {phase: {Running: 1}}, worker: {phase: "
          "{Running: 1, Succeeded: 1}}}}"));
}

TEST(Project, ATerminatingPodIsOfNoTask) {  // recorded: 19a
  model::JobSpec spec = lowered(usual_job());
  std::vector<model::PodSeen> pods = {pod(spec, 0, 0, PodPhase::kRunning),
                                      pod(spec, 1, 0, PodPhase::kRunning),
                                      pod(spec, 1, 1, PodPhase::kRunning)};
  pods[1].terminating = true;
  EXPECT_EQ(
      shown(project(observed(spec, pods), state_in(spec, Phase::kRunning), {}, kNow)),
      from_yaml(
          "{minAvailable: 3, running: 2, state: {phase: Running}, taskStatusCount: {ps: {phase: {Running: "
          "1}}, worker: {phase: {Running: 1}}}, terminating: 1}"));
}

TEST(Project, AScaledDownPodIsLeaving) {  // recorded: 23
  model::JobSpec spec = lowered(job(task("ps", 1) + task("worker", 1)));
  std::vector<model::PodSeen> pods = {pod(spec, 0, 0, PodPhase::kRunning),
                                      pod(spec, 1, 0, PodPhase::kRunning),
                                      pod(spec, 1, 1, PodPhase::kRunning)};
  json::object status = project(observed(spec, pods), state_in(spec, Phase::kRunning), {}, kNow);
  EXPECT_EQ(kube::int_at(status, {"running"}), 2);
  EXPECT_EQ(kube::int_at(status, {"terminating"}), 1);
}

// Volcano empties the counts at the end; finished pods that are kept are counted here.
TEST(Project, WhatIsKeptIsCounted) {
  model::JobSpec spec = lowered(usual_job("  plugins: {svc: []}\n"));
  JobState state = state_in(spec, Phase::kCompleting);
  state.result = ResultKind::kSucceeded;
  state.kills = 1;
  std::vector<model::PodSeen> pods = {pod(spec, 0, 0, PodPhase::kRunning),
                                      pod(spec, 1, 0, PodPhase::kSucceeded),
                                      pod(spec, 1, 1, PodPhase::kSucceeded)};
  EXPECT_EQ(
      shown(project(observed(spec, pods), state, {}, kNow)),
      from_yaml(
          "{minAvailable: 3, state: {phase: Completing}, succeeded: 2, taskStatusCount: {worker: {phase: "
          "{Succeeded: 2}}}, terminating: 1, version: 1}"));
}

TEST(Project, ConditionsMoveToTheEnd) {  // recorded: 04
  model::JobSpec spec = lowered(usual_job());
  json::object status;
  auto then = [&](const JobState& state, std::vector<model::PodSeen> pods = {}) {
    status = project(observed(spec, std::move(pods)), state, status, kNow);
    return conditions(status);
  };
  EXPECT_THAT(then(state_in(spec, Phase::kQueued)), ElementsAre("Pending"));
  EXPECT_THAT(then(state_in(spec, Phase::kStarting)), ElementsAre("Pending"));
  EXPECT_THAT(then(state_in(spec, Phase::kRunning)), ElementsAre("Pending", "Running"));
  JobState restarting = state_in(spec, Phase::kRestarting);
  restarting.attempt = restarting.floor = 1;
  EXPECT_THAT(then(restarting, {pod(spec, 0, 0, PodPhase::kRunning)}),
              ElementsAre("Pending", "Running", "Restarting"));
  EXPECT_THAT(then(restarting), ElementsAre("Running", "Restarting", "Pending"));
  EXPECT_THAT(then(state_in(spec, Phase::kRunning)), ElementsAre("Restarting", "Pending", "Running"));
  JobState failed = state_in(spec, Phase::kFinished);
  failed.result = ResultKind::kFailed;
  failed.budget_refused = true;
  failed.restarts = 1;
  EXPECT_THAT(then(failed), ElementsAre("Pending", "Running", "Restarting", "Failed"));
  EXPECT_EQ(kube::int_at(status, {"retryCount"}), 2);
}

TEST(Project, ConditionsOfAPause) {  // recorded: 18a
  model::JobSpec spec = lowered(usual_job());
  json::object status;
  for (Phase each : {Phase::kStarting, Phase::kRunning, Phase::kPausing, Phase::kPaused, Phase::kResuming}) {
    status = project(observed(spec), state_in(spec, each), status, kNow);
  }
  EXPECT_EQ(phase(status), "Pending");
  EXPECT_THAT(conditions(status), ElementsAre("Running", "Aborting", "Aborted", "Restarting", "Pending"));
}

TEST(Project, TimesChangeWithThePhaseOnly) {
  model::JobSpec spec = lowered(usual_job());
  json::object first = project(observed(spec), state_in(spec, Phase::kStarting), {}, kNow);
  json::object later = project(observed(spec, {pod(spec, 0, 0, PodPhase::kPending)}),
                               state_in(spec, Phase::kStarting), first, kNow + seconds(60));
  EXPECT_EQ(kube::text_at(later, {"state", "lastTransitionTime"}), format_rfc3339(kNow));
  json::object running = project(observed(spec), state_in(spec, Phase::kRunning), later, kNow + seconds(61));
  EXPECT_EQ(kube::text_at(running, {"state", "lastTransitionTime"}), format_rfc3339(kNow + seconds(61)));
}

TEST(Project, RunningDurationOnceStopped) {
  model::JobSpec spec = lowered(
      job(task("w", 1), "", "name: tj, creationTimestamp: '" + format_rfc3339(kNow - seconds(75)) + "'"));
  JobState done = state_in(spec, Phase::kFinished);
  done.result = ResultKind::kSucceeded;
  json::object status = project(observed(spec), done, {}, kNow);
  EXPECT_EQ(kube::text_at(status, {"runningDuration"}), "1m15s");
  status = project(observed(spec), state_in(spec, Phase::kRunning), {}, kNow);
  EXPECT_EQ(kube::find(status, {"runningDuration"}), nullptr);
}

TEST(Project, SaysWhy) {
  model::JobSpec spec = lowered(usual_job());
  JobState state = state_in(spec, Phase::kFinished);
  state.result = ResultKind::kFailed;
  state.cause = {.kind = model::CauseKind::kBudgetSpent,
                 .role = "worker",
                 .index = 1,
                 .exit_code = 137,
                 .detail = "OOMKilled"};
  json::object status = project(observed(spec), state, {}, kNow);
  EXPECT_EQ(kube::text_at(status, {"state", "message"}),
            "pod 1 of task worker failed with exit code 137 and maxRetry is used up: OOMKilled");
  status = project(observed(spec), state_in(spec, Phase::kRunning), status, kNow);
  EXPECT_EQ(kube::find(status, {"state", "message"}), nullptr);
}

TEST(Project, ClaimsAreListedOnceTheyAreThere) {  // recorded: 22b
  model::JobSpec spec = lowered(usual_job("  volumes: [{mountPath: /data, volumeClaimName: data}]\n"));
  model::Observation seen = observed(spec);
  json::object status = project(seen, state_in(spec, Phase::kStarting), {}, kNow);
  EXPECT_EQ(kube::find(status, {"controlledResources", "volume-pvc-data"}), nullptr);
  seen.companions.push_back(
      {.kind = model::CompanionKind::kPersistentVolumeClaim, .name = "data", .owned = false});
  status = project(seen, state_in(spec, Phase::kStarting), status, kNow);
  EXPECT_EQ(kube::text_at(status, {"controlledResources", "volume-pvc-data"}), "data");
}

TEST(Project, UnknownFieldsSurvive) {
  model::JobSpec spec = lowered(usual_job());
  json::object status =
      project(observed(spec), state_in(spec, Phase::kRunning),
              from_yaml("{other: 1, controlledResources: {mine: x, plugin-svc: svc}}"), kNow);
  EXPECT_EQ(kube::int_at(status, {"other"}), 1);
  EXPECT_EQ(kube::text_at(status, {"controlledResources", "mine"}), "x");
  EXPECT_EQ(kube::find(status, {"controlledResources", "plugin-svc"}), nullptr);
}

JobState a_full_state(const model::JobSpec& spec) {
  JobState state = state_in(spec, Phase::kRestarting);
  state.attempt = 3;
  state.floor = 1;
  state.kills = 2;
  state.restarts = 2;
  state.disruptions = 1;
  state.started_at = kNow;
  state.roles[1].floor = 3;
  state.cause = {.kind = model::CauseKind::kReplicaFailed, .role = "worker", .index = 0, .exit_code = 1};
  state.record({0, 0}).outcome = model::Outcome::kSucceeded;
  state.record({0, 0}).attempt = 1;
  state.delayed.push_back(
      {{1, 1}, "uid", model::Trigger::kFailed, {model::ActionKind::kAbort, model::Scope::kPod}, kNow});
  state.last_command_uid = "c";
  return state;
}

TEST(Laws, WhatIsRememberedDecodesBack) {
  model::JobSpec spec = lowered(usual_job("  plugins: {env: []}\n"));
  for (const JobState& state :
       {state_in(spec, Phase::kNew), state_in(spec, Phase::kRunning), a_full_state(spec)}) {
    json::object object = *spec.source;
    object["status"] = project(observed(spec), state, {}, kNow);
    EXPECT_EQ(recall(spec, object), state);
  }
}

TEST(Laws, ProjectingTwiceIsProjectingOnce) {
  model::JobSpec spec = lowered(usual_job("  plugins: {env: []}\n"));
  std::vector<model::PodSeen> pods = {pod(spec, 0, 0, PodPhase::kRunning),
                                      pod(spec, 1, 0, PodPhase::kFailed)};
  json::object before;
  for (int i = 0; i <= static_cast<int>(Phase::kFinished); ++i) {
    for (bool refused : {false, true}) {
      JobState state = a_full_state(spec);
      state.phase = static_cast<Phase>(i);
      state.budget_refused = refused;
      if (state.phase >= Phase::kCompleting) state.result = ResultKind::kFailed;
      json::object once = project(observed(spec, pods), state, before, kNow + seconds(i));
      EXPECT_EQ(project(observed(spec, pods), state, once, kNow + seconds(100 + i)), once) << i;
      before = once;
    }
  }
}

TEST(Laws, TerminalIsTerminal) {
  model::JobSpec spec = lowered(usual_job());
  JobState state = state_in(spec, Phase::kFinished);
  state.result = ResultKind::kFailed;
  json::object object = *spec.source;
  object["status"] = project(observed(spec, {pod(spec, 0, 0, PodPhase::kRunning)}), state, {}, kNow);
  JobState again = recall(spec, object);
  EXPECT_TRUE(again.finished());
  json::object later =
      project(observed(spec), again, *kube::object_at(object, {"status"}), kNow + seconds(60));
  EXPECT_EQ(phase(later), "Failed");
  EXPECT_EQ(kube::text_at(later, {"state", "lastTransitionTime"}), format_rfc3339(kNow));
}

TEST(Recall, JobsThatVolcanoHasLookedAfter) {
  model::JobSpec spec = lowered(usual_job());
  struct Case {
    std::string_view word;
    Phase phase;
    std::optional<ResultKind> result;
    model::RunMode mode;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"Completed", Phase::kFinished, ResultKind::kSucceeded, model::RunMode::kRun},
           {"Failed", Phase::kFinished, ResultKind::kFailed, model::RunMode::kRun},
           {"Terminated", Phase::kFinished, ResultKind::kTerminated, model::RunMode::kRun},
           {"Completing", Phase::kCompleting, ResultKind::kSucceeded, model::RunMode::kRun},
           {"Terminating", Phase::kTerminating, ResultKind::kTerminated, model::RunMode::kRun},
           {"Aborted", Phase::kPaused, std::nullopt, model::RunMode::kPause},
           {"Aborting", Phase::kPausing, std::nullopt, model::RunMode::kPause},
           {"Running", Phase::kNew, std::nullopt, model::RunMode::kRun},
           {"", Phase::kNew, std::nullopt, model::RunMode::kRun},
       }) {
    json::object object = *spec.source;
    object["status"] = from_yaml("{version: 4, retryCount: 2, state: {phase: '" + std::string(c.word) +
                                 "', lastTransitionTime: '" + format_rfc3339(kNow) + "'}}");
    JobState state = recall(spec, object);
    EXPECT_EQ(state.phase, c.phase) << c.word;
    EXPECT_EQ(state.result, c.result) << c.word;
    EXPECT_EQ(state.asked_mode, c.mode) << c.word;
    EXPECT_EQ(state.kills, 4);
    EXPECT_EQ(state.restarts, 2);
    EXPECT_EQ(state.finished_at.has_value(), c.result.has_value()) << c.word;
    EXPECT_EQ(state.roles.size(), spec.roles.size());
  }
  EXPECT_EQ(recall(spec, {}), model::decode_state(spec, {}));
  EXPECT_EQ(recall(spec, from_yaml("{status: {controlledResources: {trainyard.dev/state: '{broken'}}}")),
            model::decode_state(spec, {}));
}

TEST(ProjectInvalid, SaysWhatIsWrong) {
  std::vector<Problem> problems = {{"spec.queue", ProblemKind::kInvalid, "\"root\"", "no"}};
  json::object status = project_invalid(from_yaml("{kind: Job}"), problems, kNow);
  EXPECT_EQ(phase(status), "Pending");
  EXPECT_EQ(kube::text_at(status, {"state", "reason"}), "InvalidSpec");
  EXPECT_EQ(kube::text_at(status, {"state", "message"}), "spec.queue: Invalid value: \"root\": no");
  json::object object;
  object["status"] = status;
  EXPECT_EQ(project_invalid(object, problems, kNow + seconds(9)), status);
  object["status"] = from_yaml("{state: {phase: Completed}}");
  EXPECT_EQ(project_invalid(object, problems, kNow), from_yaml("{state: {phase: Completed}}"));
}

}  // namespace
}  // namespace trainyard::dialect::vc
