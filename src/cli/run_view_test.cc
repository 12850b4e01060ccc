#include "cli/run_view.h"

#include <gtest/gtest.h>

#include "cli/dialects.h"
#include "kube/access.h"

namespace trainyard::cli {
namespace {

const Time kViewedAt = *parse_rfc3339("2026-01-01T00:01:00Z");

json::object mnist_job(std::string_view status = "{}") {
  return json::parse(fmt::format(R"({{
    "apiVersion": "kubeflow.org/v1", "kind": "TFJob",
    "metadata": {{"name": "mnist", "namespace": "default", "uid": "job-uid",
                 "creationTimestamp": "2026-01-01T00:00:00Z"}},
    "spec": {{"tfReplicaSpecs": {{"Worker": {{"replicas": 2, "template": {{"spec": {{"containers": [
      {{"name": "tensorflow", "image": "i"}}]}}}}}}}}}},
    "status": {}}})",
                                 status))
      .as_object();
}

json::object replica_pod(int index, std::string_view status, std::string_view node = "here") {
  return json::parse(fmt::format(R"({{
    "metadata": {{"name": "mnist-worker-{0}", "namespace": "default", "uid": "pod-{0}",
                 "creationTimestamp": "2026-01-01T00:00:30Z",
                 "labels": {{"training.kubeflow.org/job-name": "mnist",
                            "training.kubeflow.org/replica-type": "worker",
                            "training.kubeflow.org/replica-index": "{0}"}},
                 "ownerReferences": [{{"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "name": "mnist",
                                      "uid": "job-uid", "controller": true}}]}},
    "spec": {{"nodeName": "{1}", "containers": [{{"name": "tensorflow"}}]}},
    "status": {2}}})",
                                 index, node, status))
      .as_object();
}

JobView view(const json::object& job, const std::vector<json::object>& pods) {
  std::vector<const json::object*> views;
  for (const json::object& pod : pods) views.push_back(&pod);
  return view_of(dialect_named("tfjob"), {}, job, views, {{"pod-0", {1500, 300 << 20}}}, kViewedAt);
}

std::string states(const JobView& view) {
  std::string text;
  for (const ReplicaRow& row : view.replicas) {
    text += fmt::format("{}{} {}{}", text.empty() ? "" : "; ", row.name, row.state,
                        row.detail.empty() ? "" : " [" + row.detail + "]");
  }
  return text;
}

constexpr std::string_view kRunningStatus =
    R"({"phase":"Running","startTime":"2026-01-01T00:00:35Z","containerStatuses":[
        {"name":"tensorflow","restartCount":1,"state":{"running":{}}}]})";

TEST(RunView, ReplicasAreWhatTheirPodsAre) {
  EXPECT_EQ(states(view(mnist_job(), {})), "worker-0 waiting; worker-1 waiting");
  EXPECT_EQ(states(view(mnist_job(),
                        {replica_pod(0, R"({"phase":"Pending"})", ""), replica_pod(1, kRunningStatus)})),
            "worker-0 waiting [waits for a node]; worker-1 running");
  EXPECT_EQ(
      states(view(mnist_job(), {replica_pod(0, R"({"phase":"Failed","containerStatuses":[{"name":"tensorflow",
      "state":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}}]})"),
                                replica_pod(1, R"({"phase":"Succeeded"})")})),
      "worker-0 failed 137 (OOMKilled); worker-1 succeeded");
  EXPECT_EQ(states(view(mnist_job(),
                        {replica_pod(0, R"({"phase":"Pending","containerStatuses":[{"name":"tensorflow",
      "state":{"waiting":{"reason":"CreateContainerConfigError","message":"secret \"x\" not found"}}}]})")})),
            "worker-0 starting [CreateContainerConfigError: secret \"x\" not found]; worker-1 waiting");
  EXPECT_EQ(states(view(mnist_job(),
                        {replica_pod(0, R"({"phase":"Pending","containerStatuses":[{"name":"tensorflow",
      "state":{"waiting":{"reason":"ContainerCreating","message":"no disk"}}}]})"),
                         replica_pod(1, R"({"phase":"Pending","containerStatuses":[{"name":"tensorflow",
      "state":{"waiting":{"reason":"ContainerCreating"}}}]})")})),
            "worker-0 starting [no disk]; worker-1 starting");
}

TEST(RunView, WhoStartsAgainSaysWhatEndedIt) {
  auto backing_off = [](std::string_view last) {
    json::object waiting = json::parse(R"j({"reason":"CrashLoopBackOff","message":
        "back-off 20s restarting failed container=tensorflow pod=mnist-worker-0_default(pod-0)"})j")
                               .as_object();
    json::object container{{"name", "tensorflow"}, {"restartCount", 2}};
    container["state"] = json::object{{"waiting", waiting}};
    container["lastState"] = json::parse(kube::jview(last));
    json::object status{{"phase", "Running"}, {"containerStatuses", json::array{container}}};
    return states(view(mnist_job(), {replica_pod(0, json::serialize(status)), replica_pod(1, "{}", "")}));
  };
  const std::string other = "; worker-1 waiting [waits for a node]";
  EXPECT_EQ(backing_off(R"({"terminated":{"exitCode":3,"reason":"Error"}})"),
            "worker-0 backing off [CrashLoopBackOff: exit code 3, starts again after 20s]" + other);
  EXPECT_EQ(
      backing_off(R"({"terminated":{"exitCode":137,"reason":"OOMKilled"}})"),
      "worker-0 backing off [CrashLoopBackOff: exit code 137 (OOMKilled), starts again after 20s]" + other);
  EXPECT_EQ(backing_off("{}"), "worker-0 backing off [CrashLoopBackOff: starts again after 20s]" + other);
}

TEST(RunView, WhoEndedGrowsNoOlder) {
  JobView ended = view(mnist_job(), {replica_pod(0, R"({"phase":"Failed","startTime":"2026-01-01T00:00:35Z",
      "containerStatuses":[{"name":"tensorflow","state":{"terminated":{"exitCode":3,
      "startedAt":"2026-01-01T00:00:35Z","finishedAt":"2026-01-01T00:00:41Z"}}}]})"),
                                     replica_pod(1, kRunningStatus)});
  std::vector<std::string> lines = block_of({&ended}, {80, 24, false}, kViewedAt);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[1].find("failed 3                6s"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("25s"), std::string::npos) << lines[2];
}

TEST(RunView, AJobThatIsDeletedStops) {
  json::object job = mnist_job();
  job["metadata"].as_object()["deletionTimestamp"] = "2026-01-01T00:00:55Z";
  JobView going = view(job, {replica_pod(1, kRunningStatus)});
  EXPECT_EQ(states(going), "worker-0 stopped; worker-1 running");
  EXPECT_TRUE(block_of({&going}, {80, 24, false}, kViewedAt).front().starts_with("TFJob mnist  stopping"));
}

TEST(RunView, AGraceThatRunsIsShown) {
  json::object going = replica_pod(0, kRunningStatus);
  going["metadata"].as_object()["deletionTimestamp"] = "2026-01-01T00:01:20Z";
  going["metadata"].as_object()["deletionGracePeriodSeconds"] = 30;
  EXPECT_EQ(states(view(mnist_job(), {going})),
            "worker-0 stopping [waiting for grace, 20s left]; worker-1 waiting");
}

TEST(RunView, ABlockIsAlignedAndFits) {
  JobView seen =
      view(mnist_job(), {replica_pod(0, kRunningStatus), replica_pod(1, R"({"phase":"Pending"})")});
  seen.progress = Progress{40, "loss", 0.125};
  std::vector<std::string> lines = block_of({&seen}, {80, 24, false}, kViewedAt);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "TFJob mnist  starting  60s  step 40  loss 0.125");
  EXPECT_EQ(lines[1], "  worker-0  running        1x      25s   1.50   300Mi");
  EXPECT_EQ(lines[2], "  worker-1  starting               30s");
}

TEST(RunView, AnyNumberOfJobsFitsOnAnyTerminal) {
  JobView seen = view(mnist_job(), {replica_pod(0, kRunningStatus), replica_pod(1, kRunningStatus)});
  seen.why = "two\nlines";
  JobView ended = seen;
  ended.phase = model::Phase::kFinished;
  ended.result = model::ResultKind::kSucceeded;
  for (size_t jobs : {1, 2, 3, 300}) {
    std::vector<const JobView*> views(jobs, &seen);
    for (Screen screen : {Screen{80, 24}, {20, 5}, {1, 3}, {80, 1000}}) {
      std::vector<std::string> lines = block_of(views, screen, kViewedAt);
      EXPECT_LE(lines.size(), static_cast<size_t>(std::max(screen.rows / 2, 2))) << jobs;
      for (const std::string& line : lines) EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    }
  }
  std::vector<const JobView*> views(300, &ended);
  views.back() = &seen;
  std::vector<std::string> lines = block_of(views, {80, 8, false}, kViewedAt);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "TFJob mnist  starting  60s  two lines");
  EXPECT_EQ(lines[3], "  and 297 succeeded");
}

TEST(RunView, WhatDoesNotFitIsCounted) {
  JobView seen;
  seen.title = "TFJob big";
  for (int i = 0; i < 100; ++i) {
    ReplicaRow row;
    row.name = fmt::format("worker-{}", i);
    row.state = i == 70 ? "failed 1" : "running";
    seen.replicas.push_back(row);
  }
  std::vector<std::string> lines = block_of({&seen}, {80, 10, false}, kViewedAt);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[1], "  worker-70  failed 1");
  EXPECT_EQ(lines[4], "  and 97 running");
}

TEST(RunView, ChangesAreToldOnce) {
  JobView before = view(mnist_job(), {replica_pod(0, R"({"phase":"Pending"})")});
  JobView after = view(mnist_job(), {replica_pod(0, kRunningStatus)});
  EXPECT_EQ(changes_between(before, after), std::vector<std::string>{"worker-0: running"});
  EXPECT_TRUE(changes_between(after, after).empty());
}

// The job with a record of this state.
json::object job_in(const model::JobState& state) {
  json::object job = mnist_job();
  dialect::LowerResult lowered = dialect_named("tfjob").lower(job, {});
  kube::ensure_object(job, {"status"})[kube::jview(dialect::kRecord)] =
      model::encode_state(std::get<model::JobSpec>(lowered), state);
  return job;
}

TEST(RunView, WhatWasEvictedStartsAgainUnlessTheJobHasEnded) {
  model::JobState state;
  state.phase = model::Phase::kRestarting;
  state.disruptions = 2;
  state.cause = {
      .kind = model::CauseKind::kReplicaDisrupted, .role = "worker", .index = 1, .detail = "Preempted"};
  JobView seen = view(job_in(state), {});
  EXPECT_EQ(seen.why, "worker-1 was evicted or lost (Preempted); it starts again");
  EXPECT_EQ(seen.restarts, 0) << "nothing was charged";
  EXPECT_EQ(seen.disruptions, 2);
  EXPECT_EQ(ending_of(seen),
            "TFJob mnist restarting, with 2 restarts at no charge: worker-1 was evicted or lost (Preempted); "
            "it starts again.");
  state.restarts = 1;
  state.phase = model::Phase::kFinished;
  state.result = model::ResultKind::kFailed;
  EXPECT_EQ(ending_of(view(job_in(state), {})),
            "TFJob mnist failed, with 1 restart and 2 at no charge: worker-1 was evicted or lost and must "
            "not start again.");
}

TEST(RunView, TheEndingSaysWhy) {
  JobView seen;
  seen.title = "TFJob mnist";
  seen.result = model::ResultKind::kFailed;
  seen.started = kViewedAt;
  seen.finished = kViewedAt + seconds(75);
  seen.restarts = 1;
  seen.why = "worker-0 failed with exit code 3, which is not retried";
  EXPECT_EQ(ending_of(seen),
            "TFJob mnist failed after 75s, with 1 restart: worker-0 failed with exit code 3, which is not "
            "retried.");
}

TEST(RunView, TheEndingSaysWhatTheMachineSaysOfTheReplicaThatFailed) {
  model::JobState state;
  state.phase = model::Phase::kFinished;
  state.result = model::ResultKind::kFailed;
  state.cause = {.kind = model::CauseKind::kReplicaFailed, .role = "worker", .index = 0, .exit_code = 137};
  auto failed_with = [&](std::string_view reason) {
    return ending_of(view(job_in(state), {replica_pod(0, fmt::format(R"({{"phase":"Failed",
      "containerStatuses":[{{"name":"tensorflow","state":{{"terminated":{{"exitCode":137,"reason":"{}"}}}}}}]}})",
                                                                     reason))}));
  };
  EXPECT_EQ(failed_with("OOMKilled"), "TFJob mnist failed: worker-0 failed with exit code 137 (OOMKilled).");
  EXPECT_EQ(failed_with("Error"), "TFJob mnist failed: worker-0 failed with exit code 137.");
}

TEST(RunView, TheEndingSaysWhichCommandCouldNotBeStarted) {
  model::JobState state;
  state.phase = model::Phase::kFinished;
  state.result = model::ResultKind::kFailed;
  state.cause = {.kind = model::CauseKind::kReplicaFailed, .role = "worker", .index = 0, .exit_code = 127};
  JobView seen = view(job_in(state), {replica_pod(0, R"({"phase":"Failed","containerStatuses":[
      {"name":"tensorflow","state":{"terminated":{"exitCode":127,"reason":"ContainerCannotRun",
      "message":"exec: \"pythonn\": executable file not found in $PATH"}}}]})")});
  EXPECT_EQ(ending_of(seen),
            "TFJob mnist failed: worker-0 failed with exit code 127 (ContainerCannotRun: exec: \"pythonn\": "
            "executable file not found in $PATH).");
  // What a program says of itself may be long, and is in its log.
  seen = view(job_in(state), {replica_pod(0, R"({"phase":"Failed","containerStatuses":[
      {"name":"tensorflow","state":{"terminated":{"exitCode":127,"reason":"Error","message":"x"}}}]})")});
  EXPECT_EQ(ending_of(seen), "TFJob mnist failed: worker-0 failed with exit code 127.");
}

TEST(RunView, AnEndIsKeptWhenItsPodIsRemoved) {
  JobView before;
  before.replicas = {{.name = "worker-0", .state = "succeeded"},
                     {.name = "worker-1", .state = "running"},
                     {.name = "worker-2", .state = "failed 137 (OOMKilled)"},
                     {.name = "worker-3", .state = "failed 1"}};
  JobView after;
  after.replicas = {{.name = "worker-0", .state = "stopped"},
                    {.name = "worker-1", .state = "stopped"},
                    {.name = "worker-2", .state = "failed 137"},
                    {.name = "worker-3", .state = "failed 13"}};
  keep_ends(before, after);
  EXPECT_EQ(after.replicas[0].state, "succeeded");
  EXPECT_EQ(after.replicas[1].state, "stopped");
  EXPECT_EQ(after.replicas[2].state, "failed 137 (OOMKilled)");
  EXPECT_EQ(after.replicas[3].state, "failed 13");
}

TEST(RunView, ReplicasOfSeveralJobsAreToldApart) {
  JobView before{.title = "TFJob one"};
  JobView after = before;
  after.replicas = {{.name = "worker-0", .state = "running"}};
  EXPECT_EQ(changes_between(before, after, "one/"), std::vector<std::string>{"one/worker-0: running"});
}

TEST(RunView, TheUserIsToldThatTheUserStoppedIt) {
  JobView view{.title = "TFJob one"};
  view.started = Time{1000};
  EXPECT_EQ(stopped_words(view, false, Time{4000}), "TFJob one was stopped by you after 3s.");
  EXPECT_EQ(stopped_words(view, true, Time{4000}), "TFJob one was killed by you after 3s.");
}

}  // namespace
}  // namespace trainyard::cli
