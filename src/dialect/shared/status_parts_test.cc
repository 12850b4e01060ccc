#include <gtest/gtest.h>

#include "dialect/shared/conditions.h"
#include "dialect/shared/counts.h"
#include "dialect/shared/dialect.h"
#include "dialect/shared/rewrite.h"
#include "dialect/shared/see_pod.h"
#include "dialect/shared/testing.h"

namespace trainyard::dialect {
namespace {

using model::PodPhase;

TEST(Conditions, TimeMovesOnlyWithTheStatus) {
  json::array conditions;
  EXPECT_TRUE(set_condition(conditions, "Ready", "False", "Starting", "wait", Time{1000}));
  EXPECT_FALSE(set_condition(conditions, "Ready", "False", "Starting", "wait", Time{2000}));
  EXPECT_TRUE(set_condition(conditions, "Ready", "False", "Late", "wait", Time{3000}));
  EXPECT_EQ(conditions, json::parse(R"([{"type":"Ready","status":"False","reason":"Late","message":"wait",
      "lastTransitionTime":"1970-01-01T00:00:01Z"}])")
                            .as_array());
  EXPECT_TRUE(set_condition(conditions, "Ready", "True", "Done", "go", Time{4000}));
  EXPECT_TRUE(condition_is(conditions, "Ready", "True"));
  EXPECT_FALSE(condition_is(conditions, "Other", "True"));
}

TEST(Conditions, WhatIsNoConditionIsLeftOut) {
  EXPECT_EQ(conditions_of(parsed(R"({"conditions":[1,{"type":"A"},null]})")),
            json::parse(R"([{"type":"A"}])").as_array());
  EXPECT_TRUE(conditions_of(parsed(R"({"conditions":"x"})")).empty());
}

model::PodSeen pod(int role, int index, PodPhase phase, int attempt = 0) {
  return {.id = {role, index}, .attempt = attempt, .phase = phase};
}

TEST(Rewrite, WhatIsWrittenAnewIsNotCopiedAndKeepsItsPlace) {
  EXPECT_EQ(json::serialize(copy_but(parsed(R"({"a":1,"b":[2],"c":{"d":3}})"), {"b", "e"})),
            R"({"a":1,"b":null,"c":{"d":3}})");
}

TEST(Counts, AReplicaCountsOnce) {
  model::Observation seen;
  seen.spec.roles = {{.name = "ps", .replicas = 2}, {.name = "worker", .replicas = 4}};
  model::JobState state;
  state.roles.resize(2);
  state.record({1, 0}).outcome = model::Outcome::kSucceeded;
  state.record({1, 1}).attempt = 1;
  seen.pods = {pod(0, 0, PodPhase::kRunning), pod(0, 5, PodPhase::kRunning), pod(1, 0, PodPhase::kSucceeded),
               pod(1, 1, PodPhase::kFailed),  pod(1, 2, PodPhase::kFailed),  pod(1, 3, PodPhase::kRunning)};
  seen.pods[5].terminating = true;
  std::vector<RoleCounts> counts = count_replicas(seen, state);
  EXPECT_EQ(counts[0], (RoleCounts{.running = 1, .missing = 1, .old = 1}));
  EXPECT_EQ(counts[1], (RoleCounts{.terminating = 1, .succeeded = 1, .failed = 1, .missing = 1, .old = 1}));
}

// Stopped by somebody, it ended well on its way out: the replica is made again and has not succeeded.
TEST(Counts, APodThatIsGoneCountsForNothing) {
  model::Observation seen;
  seen.spec.roles = {{.name = "worker", .replicas = 1}};
  model::JobState state;
  state.roles.resize(1);
  seen.pods = {pod(0, 0, PodPhase::kSucceeded)};
  seen.pods[0].gone = true;
  EXPECT_EQ(count_replicas(seen, state)[0], (RoleCounts{.missing = 1}));
}

TEST(SeePod, TheMainContainerGivesTheExitCode) {
  kube::Pod pod;
  pod.name = "p";
  pod.uid = "u";
  pod.annotations[std::string(kAttemptAnnotation)] = "2";
  pod.phase = kube::PodPhase::kFailed;
  pod.container_names = {"sidecar", "tensorflow"};
  kube::ContainerStatus sidecar{
      .name = "sidecar", .state = kube::ContainerStateKind::kTerminated, .restart_count = 1};
  sidecar.terminated = kube::Termination{.exit_code = 0, .finished_at = Time{9000}};
  kube::ContainerStatus main{
      .name = "tensorflow", .state = kube::ContainerStateKind::kTerminated, .restart_count = 2};
  main.terminated = kube::Termination{.exit_code = 137, .reason = "OOMKilled", .finished_at = Time{7000}};
  pod.containers = {sidecar, main};

  model::PodSeen seen = see_pod(pod, {1, 3}, "tensorflow");
  EXPECT_EQ(seen.id, (model::ReplicaId{1, 3}));
  EXPECT_EQ(seen.attempt, 2);
  EXPECT_EQ(seen.phase, PodPhase::kFailed);
  EXPECT_EQ(seen.exit_code, 137);
  EXPECT_EQ(seen.restarts, 3);
  EXPECT_EQ(seen.finished_at, Time{7000});
  EXPECT_EQ(seen.reason, "OOMKilled");
  EXPECT_EQ(seen.containers.size(), 2u);
  EXPECT_EQ(see_pod(pod, {1, 3}, "").exit_code, 0) << "the first container";
}

TEST(SeePod, APodThatNeverRanHasNoExitCode) {
  kube::Pod pod;
  pod.phase = kube::PodPhase::kFailed;
  pod.reason = "Evicted";
  pod.annotations[std::string(kAttemptAnnotation)] = "many";
  model::PodSeen seen = see_pod(pod, {0, 0}, "tensorflow");
  EXPECT_EQ(seen.exit_code, std::nullopt);
  EXPECT_EQ(seen.reason, "Evicted");
  EXPECT_EQ(seen.attempt, 0);
}

}  // namespace
}  // namespace trainyard::dialect
