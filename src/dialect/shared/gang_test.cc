#include "dialect/shared/gang.h"

#include <gtest/gtest.h>

#include "dialect/shared/testing.h"

namespace trainyard::dialect {
namespace {

using model::GangPhase;
using model::GangScheduler;

model::Gang full_gang(GangScheduler scheduler) {
  return {.scheduler = scheduler,
          .name = "g",
          .min_member = 3,
          .min_per_role = {{"ps", 1}, {"worker", 2}},
          .min_resources = {{"cpu", "2"}},
          .queue = "q",
          .priority_class = "high",
          .priority = 7,
          .timeout_seconds = 30};
}

struct GangCase {
  GangScheduler scheduler;
  std::string_view api_version;
  std::string_view spec;
};

const GangCase kGangCases[] = {
    {GangScheduler::kVolcano, "scheduling.volcano.sh/v1beta1",
     R"({"minMember":3,"minTaskMember":{"ps":1,"worker":2},"minResources":{"cpu":"2"},"queue":"q","priorityClassName":"high"})"},
    {GangScheduler::kKubeBatch, "scheduling.incubator.k8s.io/v1alpha1",
     R"({"minMember":3,"queue":"q","priorityClassName":"high"})"},
    {GangScheduler::kCoscheduling, "scheduling.x-k8s.io/v1alpha1",
     R"({"minMember":3,"minResources":{"cpu":"2"},"scheduleTimeoutSeconds":30})"},
    {GangScheduler::kT9k, "scheduler.tensorstack.dev/v1beta1",
     R"({"minMember":3,"roles":[{"name":"ps","minMember":1},{"name":"worker","minMember":2}],"queue":"q","priority":7})"},
};

TEST(Gang, EachSchedulerGetsItsOwnPodGroup) {
  for (const GangCase& one : kGangCases) {
    json::object group = render_pod_group(full_gang(one.scheduler), "ns", parsed(R"({"labels":{"a":"b"}})"));
    EXPECT_EQ(group["apiVersion"],
              json::value(json::string_view(one.api_version.data(), one.api_version.size())));
    EXPECT_EQ(group["metadata"], json::value(parsed(R"({"name":"g","namespace":"ns","labels":{"a":"b"}})")));
    EXPECT_EQ(group["spec"], json::value(parsed(one.spec))) << one.api_version;
  }
}

TEST(Gang, WhatIsWrittenIsReadBack) {
  for (const GangCase& one : kGangCases) {
    model::Gang gang = full_gang(one.scheduler);
    json::object stored = render_pod_group(
        gang, "ns", parsed(R"({"uid":"u","ownerReferences":[{"uid":"j","controller":true}]})"));
    model::GangSeen seen = decode_gang(one.scheduler, stored);
    EXPECT_EQ(seen.uid, "u");
    EXPECT_TRUE(seen.owned);
    EXPECT_EQ(render_pod_group(seen.spec, "ns", {})["spec"], stored["spec"]) << one.api_version;
  }
}

TEST(Gang, StorableIsWhatComesBack) {
  for (const GangCase& one : kGangCases) {
    model::Gang gang = full_gang(one.scheduler);
    gang.owned = false;
    gang.gates_pods = true;
    gang.placed_by = "trainyard";
    model::Gang kept = storable(gang);
    EXPECT_EQ(kept.placed_by, "trainyard");
    EXPECT_EQ(kept.name, gang.name);
    EXPECT_FALSE(kept.owned);
    EXPECT_TRUE(kept.gates_pods);
    EXPECT_EQ(storable(kept), kept);
    model::Gang stored = decode_gang(one.scheduler, render_pod_group(kept, "ns", {})).spec;
    stored.owned = kept.owned;
    stored.gates_pods = kept.gates_pods;
    EXPECT_EQ(stored, kept) << one.api_version;
  }
  EXPECT_EQ(storable(full_gang(GangScheduler::kVolcano)).timeout_seconds, std::nullopt);
}

TEST(Gang, OnlyVolcanosPhaseGates) {
  const std::pair<std::string_view, GangPhase> cases[] = {
      {"", GangPhase::kPending},        {"Pending", GangPhase::kPending},   {"Inqueue", GangPhase::kAdmitted},
      {"Running", GangPhase::kRunning}, {"Completed", GangPhase::kRunning}, {"Unknown", GangPhase::kLost}};
  for (const auto& [phase, expected] : cases) {
    json::object group = parsed(R"({"spec":{"minMember":1},"status":{}})");
    group["status"].as_object()["phase"] = json::string_view(phase.data(), phase.size());
    EXPECT_EQ(decode_gang(GangScheduler::kVolcano, group).phase, expected) << phase;
    EXPECT_EQ(decode_gang(GangScheduler::kCoscheduling, group).phase, GangPhase::kAdmitted) << phase;
  }
}

TEST(Gang, TheSchedulersWordsAreKept) {
  json::object group = parsed(R"({"status":{"phase":"Pending","conditions":[
      {"type":"Unschedulable","status":"True","message":"3/4 tasks in gang unschedulable"}]}})");
  EXPECT_EQ(decode_gang(GangScheduler::kVolcano, group).message, "3/4 tasks in gang unschedulable");
}

TEST(Gang, APodJoinsAsItsSchedulerWants) {
  const std::pair<GangScheduler, std::string_view> cases[] = {
      {GangScheduler::kVolcano, R"({"spec":{"schedulerName":"s"},"metadata":{"annotations":
          {"scheduling.k8s.io/group-name":"g","volcano.sh/task-spec":"worker"}}})"},
      {GangScheduler::kKubeBatch,
       R"({"spec":{"schedulerName":"s"},"metadata":{"annotations":{"scheduling.k8s.io/group-name":"g"}}})"},
      {GangScheduler::kCoscheduling,
       R"({"spec":{"schedulerName":"s"},"metadata":{"labels":{"scheduling.x-k8s.io/pod-group":"g"}}})"},
      {GangScheduler::kT9k, R"({"spec":{"schedulerName":"s"},"metadata":{"labels":
          {"scheduler.tensorstack.dev/group-name":"g","scheduler.tensorstack.dev/role":"worker"}}})"}};
  for (const auto& [scheduler, expected] : cases) {
    json::object pod = parsed(R"({"spec":{}})");
    join_gang(pod, full_gang(scheduler), "s", "worker");
    EXPECT_EQ(pod, parsed(expected));
  }
  json::object other = parsed(R"({"spec":{"schedulerName":"mine"}})");
  join_gang(other, full_gang(GangScheduler::kVolcano), "volcano", "worker");
  EXPECT_EQ(other["spec"], json::value(parsed(R"({"schedulerName":"mine"})")));
}

TEST(Gang, RequestsAreSummedAndLimitsStandIn) {
  json::object ps = parsed(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"500m","memory":"1Gi"}}},
      {"resources":{"limits":{"cpu":"1","nvidia.com/gpu":1}}}],"initContainers":[{"resources":{"requests":{"cpu":"9"}}}]}})");
  json::object worker = parsed(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":2}}}]}})");
  EXPECT_EQ(pod_requests(ps), (std::map<std::string, std::string>{
                                  {"cpu", "1500m"}, {"memory", "1Gi"}, {"nvidia.com/gpu", "1"}}));
  const GangPart parts[] = {{&ps, 2}, {&worker, 3}};
  EXPECT_EQ(gang_requests(parts, 4),
            (std::map<std::string, std::string>{{"cpu", "7"}, {"memory", "2Gi"}, {"nvidia.com/gpu", "2"}}));
  EXPECT_EQ(gang_requests(parts, 1), (std::map<std::string, std::string>{
                                         {"cpu", "1500m"}, {"memory", "1Gi"}, {"nvidia.com/gpu", "1"}}));
}

}  // namespace
}  // namespace trainyard::dialect
