// Of two schedulers one leads: what the other does, and what is left of what it wanted when that changes.
#include "control/scheduler.h"

#include <gtest/gtest.h>

#include "control/scheduler_testing.h"

namespace trainyard::control {
namespace {

using testing::SchedulerYard;

TEST(Scheduler, WhatALostLeadWantedIsNotDoneWhenItReturns) {
  SchedulerOptions options;
  options.elects_leader = true;
  SchedulerYard yard(options);
  for (int n = 0; n < 6; ++n) yard.node(fmt::format("n{}", n), "100");
  yard.gang("g", 600, "1");  // more than one batch
  int bindings = 0;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    // While the first batch is under way the lease runs out, another takes it, and the room.
    if (request.resource == kube::kBindings && ++bindings == 256) {
      yard.now = yard.now + kLeaseDuration + Duration{1};
      json::object lease = **yard.store.get(kube::kLeases, options.lease_ns, options.lease_name);
      lease["spec"].as_object()["holderIdentity"] = "another";
      EXPECT_TRUE(yard.store.update(kube::kLeases, options.lease_ns, lease, yard.now).ok());
      yard.node("n5", "1");
    }
    return std::nullopt;
  };
  for (int turn = 0; turn < 100 && bindings < 256; ++turn) {
    yard.carry();
    yard.scheduler().step(yard.now);
  }
  EXPECT_EQ(yard.bound("g"), 256);
  // Renewals never come to rest.
  for (int turn = 0; turn < 2'000; ++turn) {
    yard.carry();
    if (!yard.scheduler().step(yard.now)) yard.now = yard.now + Duration{100};
  }
  EXPECT_EQ(bindings, 256);
  EXPECT_TRUE(yard.scheduler().leads());
}

TEST(Scheduler, OfTwoOneLeadsAndTheOtherTakesOver) {
  SchedulerYard yard({.elects_leader = true, .identity = "one"});
  yard.node("here", "4");
  yard.pod("a", "1");
  yard.work();
  EXPECT_TRUE(yard.scheduler().leads());
  EXPECT_EQ(yard.node_of("a"), "here");

  yard.change_over("two");
  yard.pod("b", "1");
  for (int second = 0; second < 14; ++second) {
    yard.work();
    EXPECT_FALSE(yard.scheduler().leads()) << second;
    EXPECT_EQ(yard.node_of("b"), "") << second;
    yard.now = yard.now + seconds(1);
  }
  for (int second = 0; second < 6 && !yard.scheduler().leads(); ++second) {
    yard.now = yard.now + seconds(1);
    yard.work();
  }
  EXPECT_TRUE(yard.scheduler().leads()) << "nobody renews the lease";
  yard.work();
  EXPECT_EQ(yard.node_of("b"), "here");

  yard.change_over("one");
  yard.pod("c", "1");
  yard.work();
  EXPECT_FALSE(yard.scheduler().leads()) << "it stood still for longer than its lease";
  EXPECT_EQ(yard.node_of("c"), "");
}

// A watch that is stuck has told nothing of what the other did last.
TEST(Scheduler, WhoTakesOverDecidesOnNothingThatItSawBefore) {
  SchedulerYard yard({.elects_leader = true, .identity = "one"});
  yard.node("here", "1");
  yard.pod("b", "1", "later");
  yard.work();
  yard.change_over("two");
  yard.work();
  yard.change_over("one");
  yard.pod("a", "1");
  yard.work();
  ASSERT_EQ(yard.node_of("a"), "here");
  yard.group("later", 1);
  yard.frozen = "pods";
  yard.change_over("two");
  for (int second = 0; second < 20; ++second) {
    yard.work();
    yard.now = yard.now + seconds(1);
  }
  EXPECT_TRUE(yard.scheduler().leads());
  EXPECT_EQ(yard.node_of("b"), "") << "two pods in one place";
}

TEST(Scheduler, ALeaseThatIsHandedOverIsTakenAtOnce) {
  SchedulerYard yard({.elects_leader = true, .identity = "one"});
  yard.work();
  EXPECT_TRUE(yard.scheduler().leads());
  yard.scheduler().hand_over(yard.now);
  EXPECT_FALSE(yard.scheduler().leads());
  yard.change_over("two");
  yard.node("here", "4");
  yard.pod("a", "1");
  for (int second = 0; second < 3; ++second) {
    yard.work();
    yard.now = yard.now + seconds(1);
  }
  EXPECT_TRUE(yard.scheduler().leads());
  EXPECT_EQ(yard.node_of("a"), "here");
}

}  // namespace
}  // namespace trainyard::control
