// What hurt users of other schedulers and is a matter of the loop: V Volcano, S scheduler-plugins, Q kueue,
// with the number of the thread. See sched/pains_test.cc for the rest.
#include <gtest/gtest.h>

#include "control/scheduler_testing.h"

namespace trainyard::control {
namespace {

using testing::SchedulerYard;

std::vector<kube::Condition> conditions_of(SchedulerYard& yard, const kube::Resource& resource,
                                           std::string_view name) {
  return kube::decode_conditions(**yard.store.get(resource, "ns", name));
}

void play(SchedulerYard& yard, std::string_view pod, std::string_view phase) {
  json::object object = **yard.store.get(kube::kPods, "ns", pod);
  kube::ensure_object(object, {"status"})["phase"] = kube::jview(phase);
  ASSERT_TRUE(yard.store.update_status(kube::kPods, "ns", object, yard.now).ok());
}

// 2558, 691, 3000, 4710: a cluster autoscaler looks for pods that are called unschedulable.
TEST(SchedulerPain, V3910_EveryPodThatLacksRoomIsCalledUnschedulable) {
  SchedulerYard yard;
  yard.node("n1", "1");
  yard.gang("train", 3, "1");
  yard.settle();
  for (int i = 0; i < 3; ++i) {
    std::vector<kube::Condition> all = conditions_of(yard, kube::kPods, fmt::format("train-{}", i));
    const kube::Condition* scheduled = kube::find_condition(all, "PodScheduled");
    ASSERT_NE(scheduled, nullptr);
    EXPECT_EQ(scheduled->status, "False");
    EXPECT_EQ(scheduled->reason, "Unschedulable");
  }
}

TEST(SchedulerPain, V4888_PodsAreNotForgottenWithTheirNode) {
  SchedulerYard yard;
  yard.node("n1", "2");
  yard.pod("a", "2");
  yard.settle();
  EXPECT_EQ(yard.node_of("a"), "n1");
  yard.store.remove(kube::kNodes, "", "n1", {}, yard.now).value();
  yard.settle();
  yard.node("n1", "2");
  yard.pod("b", "1");
  yard.settle();
  EXPECT_EQ(yard.node_of("b"), "") << "the first still holds its place";
}

// 1881, 950, 457
TEST(SchedulerPain, V4503_AGangThatFitsIsNeverCalledUnschedulable) {
  SchedulerYard yard;
  yard.node("n1", "4");
  int said = 0;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    const auto* patch = std::get_if<kube::Patch>(&request.verb);
    if (patch != nullptr) said += json::serialize(patch->body).find("Unschedulable") != std::string::npos;
    return std::nullopt;
  };
  yard.group("train", 2);
  yard.settle();
  for (int i = 0; i < 2; ++i) {
    yard.pod(fmt::format("train-{}", i), "1", "train");
    yard.work();
    yard.now = yard.now + Duration{50};
  }
  yard.settle();
  EXPECT_EQ(yard.bound("train"), 2);
  EXPECT_EQ(said, 0);
  EXPECT_EQ(conditions_of(yard, kube::kVolcanoPodGroups, "train").size(), 1u);
}

TEST(SchedulerPain, V5871_AGroupIsNotCompletedWhileAMemberIsPending) {
  SchedulerYard yard;
  yard.node("n1", "2");
  yard.group("train", 2);
  for (int i = 0; i < 3; ++i) yard.pod(fmt::format("train-{}", i), "1", "train");
  yard.settle();
  ASSERT_EQ(yard.bound("train"), 2);
  yard.pod("other", "2");
  for (int i = 0; i < 2; ++i) play(yard, fmt::format("train-{}", i), "Succeeded");
  yard.settle();
  EXPECT_EQ(yard.node_of("train-2"), "") << "another has the room";
  EXPECT_EQ(yard.phase("train"), "Running");
  yard.remove_pod("other");
  yard.settle();
  play(yard, "train-2", "Succeeded");
  yard.settle();
  EXPECT_EQ(yard.phase("train"), "Completed");
}

// 397: no back-off of a minute because the rest came later.
TEST(SchedulerPain, S450_PodsThatComeBeforeTheirGroupStartWhenItComes) {
  SchedulerYard yard;
  yard.node("n1", "4");
  yard.pod("train-0", "1", "train");
  yard.settle();
  EXPECT_EQ(yard.told("train-0"), "its pods name PodGroup train, which does not exist");
  yard.now = yard.now + seconds(30);
  yard.group("train", 2);
  yard.settle();
  EXPECT_EQ(yard.told("train-0"),
            "waits with the 2 pods of train that start together: needs 2 pods; 1 is not there yet");
  yard.now = yard.now + seconds(30);
  yard.pod("train-1", "1", "train");
  Time came = yard.now;
  for (int turn = 0; turn < 100 && yard.bound("train") < 2; ++turn) {
    yard.work();
    yard.now = yard.now + Duration{10};
  }
  EXPECT_EQ(yard.bound("train"), 2);
  EXPECT_LT(yard.now - came, seconds(1));
}

// 713: a backlog that is looked at again and again is not told again and again.
TEST(SchedulerPain, Q8095_ABacklogIsNotWrittenToWhileOthersComeAndGo) {
  SchedulerYard yard;
  yard.node("n1", "4");
  yard.gang("large", 3, "2");
  yard.settle();
  int writes = 0;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    writes +=
        request.resource != kube::kBindings && request.resource != kube::kEvents && client::is_write(request);
    return std::nullopt;
  };
  for (int i = 0; i < 20; ++i) {
    yard.pod(fmt::format("small-{}", i), "1");
    yard.work();
    yard.remove_pod(fmt::format("small-{}", i));
    yard.now = yard.now + Duration{500};
    yard.work();
  }
  EXPECT_EQ(writes, 0);
}

}  // namespace
}  // namespace trainyard::control
