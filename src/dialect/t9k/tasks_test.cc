#include "dialect/t9k/tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/t9k/name.h"
#include "dialect/t9k/testing.h"
#include "kube/access.h"

namespace trainyard::t9k {
namespace {

using model::Phase;
using model::PodPhase;
using model::ResultKind;
using ::testing::ElementsAre;
using testing::ended;
using testing::from_yaml;
using testing::in_phase;
using ::testing::IsEmpty;
using testing::job;
using testing::kPrefix;
using testing::pod;
using testing::replica_spec;
using testing::world;

json::object as_status(const TasksStatus& status) { return {{"tasks", status.tasks}}; }

// "name phase uid containers" of every replica.
std::vector<std::string> replicas_of(const TasksStatus& status) {
  std::vector<std::string> lines;
  for (const json::value& task : status.tasks) {
    for (const json::value& value : task.at("replicas").as_array()) {
      const json::object& r = value.as_object();
      std::string_view name = kube::text_at(r, {"name"});
      name.remove_prefix(kPrefix.size() + 1);
      lines.push_back(fmt::format("{} {} {}", name, kube::text_at(r, {"phase"}), kube::text_at(r, {"uid"})));
    }
  }
  return lines;
}

TEST(T9kTasks, PhasesOfReplicas) {
  model::Observation seen = world(job(replica_spec("worker", 7)));
  seen.pods = {pod(seen, {0, 0}, PodPhase::kPending), pod(seen, {0, 1}, PodPhase::kPending),
               pod(seen, {0, 2}, PodPhase::kRunning), pod(seen, {0, 3}, PodPhase::kSucceeded),
               pod(seen, {0, 4}, PodPhase::kFailed),  pod(seen, {0, 5}, PodPhase::kUnknown)};
  seen.pods[0].scheduled = false;
  TasksStatus status = project_tasks(seen, in_phase(seen, Phase::kStarting), {});
  EXPECT_THAT(replicas_of(status),
              ElementsAre("worker-0 Creating uid-0-0", "worker-1 Pending uid-0-1", "worker-2 Running uid-0-2",
                          "worker-3 Succeeded uid-0-3", "worker-4 Failed uid-0-4", "worker-5 Unknown uid-0-5",
                          "worker-6 Creating "));
  EXPECT_EQ(json::value(status.aggregate),
            json::value(from_yaml("{creating: 2, deleted: 0, failed: 1, pending: 1, running: 1, "
                                  "succeeded: 1, unknown: 1}")));
}

TEST(T9kTasks, ReplicasWhosePodsWereDeleted) {
  model::Observation seen = world(job(replica_spec("worker", 3)));
  seen.pods = {pod(seen, {0, 0}, PodPhase::kRunning), pod(seen, {0, 1}, PodPhase::kRunning)};
  json::object before = as_status(project_tasks(seen, in_phase(seen, Phase::kStarting), {}));
  seen.pods.pop_back();
  EXPECT_THAT(replicas_of(project_tasks(seen, in_phase(seen, Phase::kStarting), before)),
              ElementsAre("worker-0 Running uid-0-0", "worker-1 Creating ", "worker-2 Creating "))
      << "it is about to be made again";
  TasksStatus paused = project_tasks(seen, in_phase(seen, Phase::kPausing), before);
  EXPECT_THAT(replicas_of(paused), ElementsAre("worker-0 Running uid-0-0", "worker-1 Deleted uid-0-1"));
  EXPECT_EQ(paused.aggregate["deleted"], 1);
  seen.pods[0].gone = true;
  EXPECT_THAT(replicas_of(project_tasks(seen, ended(seen, ResultKind::kSucceeded), {})),
              ElementsAre("worker-0 Deleted uid-0-0"));
}

TEST(T9kTasks, AReplicaThatSucceededIsNotAwaited) {
  model::Observation seen = world(job(replica_spec("worker", 2)));
  model::JobState state = in_phase(seen, Phase::kRunning);
  state.record({0, 1}).outcome = model::Outcome::kSucceeded;
  EXPECT_THAT(replicas_of(project_tasks(seen, state, {})),
              ElementsAre("worker-0 Creating ", "worker-1 Deleted "));
}

TEST(T9kTasks, AJobCreatedPausedHasNoReplicas) {
  model::Observation seen = world(job(replica_spec("worker", 3), "  runMode: {pause: {enabled: true}}\n"));
  TasksStatus status = project_tasks(seen, in_phase(seen, Phase::kPaused, false), {});
  EXPECT_EQ(json::value(status.tasks), from_yaml("{a: [{type: worker, replicas: []}]}")["a"]);
}

TEST(T9kTasks, RestartsAreShownOnceThereAreAny) {
  model::Observation seen = world(job(replica_spec("worker", 1) + replica_spec("ps", 1)));
  model::JobState state = in_phase(seen, Phase::kRunning);
  state.roles[1].restarts = 2;
  TasksStatus status = project_tasks(seen, state, {});
  EXPECT_FALSE(status.tasks[0].as_object().contains("restartCount"));
  EXPECT_EQ(status.tasks[1].at("restartCount"), 2);
}

TEST(T9kTasks, ContainersShowTheirState) {
  model::Observation seen = world(job(replica_spec("worker", 1)));
  seen.pods = {pod(seen, {0, 0}, PodPhase::kRunning)};
  seen.pods[0].containers = {{.name = "tensorflow", .phase = model::ContainerPhase::kRunning},
                             {.name = "proxy", .phase = model::ContainerPhase::kWaiting},
                             {.name = "setup", .phase = model::ContainerPhase::kTerminated, .exit_code = 3}};
  TasksStatus status = project_tasks(seen, in_phase(seen, Phase::kRunning), {});
  EXPECT_EQ(status.tasks[0].at("replicas").as_array()[0].at("containers"),
            from_yaml("{a: [{name: tensorflow, state: Running}, {name: proxy, state: Waiting}, "
                      "{name: setup, state: Terminated, exitCode: 3}]}")["a"]);
}

TEST(T9kTasks, PodsOfRolesAndReplicasThatAreNoMoreAreLeftOut) {
  model::Observation seen = world(job(replica_spec("worker", 1)));
  model::PodSeen stranger = pod(seen, {0, 0}, PodPhase::kRunning);
  stranger.id = {-1, 0};
  seen.pods = {stranger, pod(seen, {0, 5}, PodPhase::kRunning)};
  EXPECT_THAT(replicas_of(project_tasks(seen, in_phase(seen, Phase::kRunning), {})),
              ElementsAre("worker-0 Creating "));
}

TEST(T9kTasks, NonsenseInTheStatusIsOverlooked) {
  model::Observation seen = world(job(replica_spec("worker", 1)));
  for (const char* previous :
       {"{tasks: 3}", "{tasks: [1, {replicas: 2}, {replicas: [1, {uid: 4}, {uid: a, name: 7}]}]}"}) {
    EXPECT_THAT(replicas_of(project_tasks(seen, in_phase(seen, Phase::kPaused), from_yaml(previous))),
                IsEmpty());
  }
}

}  // namespace
}  // namespace trainyard::t9k
