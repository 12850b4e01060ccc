// What hurt users of other schedulers, each as a small world: V Volcano, K kube-batch, S scheduler-plugins,
// Q kueue, with the number of the thread. What needs the loop is in control/scheduler_pains_test.cc.
#include <gtest/gtest.h>

#include "sched/group_status.h"
#include "sched/testing.h"

namespace trainyard::sched::testing {
namespace {

size_t bound_in(const std::string& world) { return World(world).run().bindings.size(); }

// 4027, 1297: what is tried first must not decide whether a gang fits.
TEST(SchedulingPain, V3319_AGangThatFitsIsPlacedInWhateverOrderItsTasksAre) {
  const std::string nodes = "node n1 cpu=6\nnode n2 cpu=5\ngang a";
  EXPECT_EQ(bound_in(nodes + " x*1:cpu=4 y*1:cpu=3 z*2:cpu=2"), 4u);
  EXPECT_EQ(bound_in(nodes + " z*2:cpu=2 y*1:cpu=3 x*1:cpu=4"), 4u);
  EXPECT_EQ(bound_in(nodes + " y*1:cpu=3 z*2:cpu=2 x*1:cpu=4"), 4u);
}

// 4617: enough in all, and in pieces that are too small.
TEST(SchedulingPain, V665_AGangThatFitsNowhereBlocksNobody) {
  EXPECT_EQ(outcome("node n1 cpu=3\nnode n2 cpu=3\ngang x w@n1:cpu=1\ngang y w@n2:cpu=1\n"
                    "gang a age=60 w*1:cpu=3\ngang b w*1:cpu=2\ngang c min=1 asks.cpu=1"),
            "b/w-0=n1; wait a Resources; wait c NotAdmitted")
      << "more is asked for than there is";
  EXPECT_EQ(outcome("node n1 cpu=3\nnode n2 cpu=3\ngang a age=9000 w*9:cpu=3\ngang b w*1:cpu=2\ngang c min=1 "
                    "asks.cpu=1"),
            "b/w-0=n1; admit c; never a TooLarge")
      << "what can never start asks for nothing";
}

TEST(SchedulingPain, V2462_NoPartOfAGangStarts) {
  EXPECT_EQ(bound_in("node n1 cpu=3\ngang a w*4:cpu=1"), 0u);
  EXPECT_EQ(bound_in("node n1 cpu=4\ngang a ps.min=1 min=3 ps*1:cpu=4 w*4:cpu=1"), 0u);
}

TEST(SchedulingPain, V5805_AGangThatLostANodeComesBeforeThoseThatHoldNothing) {
  EXPECT_EQ(outcome("node n1 cpu=2\nnode n2 cpu=2\nqueue q\nqueue empty\n"
                    "gang x queue=q was-whole w@n1:cpu=2 w*1:cpu=2\ngang new queue=empty age=900 w*1:cpu=2"),
            "x/w-1=n2; wait new Resources; reserve new");
}

// 2772, 3567, 2337, 2034, 1720, 5925
TEST(SchedulingPain, V3291_AHigherGangTakesWhatItNeedsFromSeveral) {
  EXPECT_EQ(
      outcome("node n1 cpu=2\nnode n2 cpu=2\ngang x w@n1:cpu=2\ngang y w@n2:cpu=2\ngang a class=1 w*2:cpu=2"),
      "preempt x/w-0; preempt y/w-0; wait a Leaving");
}

// 3332: nothing has to be switched on or off for it; one gang can be exempt.
TEST(SchedulingPain, V3332_PreemptionNeedsNoSetting) {
  EXPECT_EQ(outcome("node n1 cpu=2\ngang x w@n1:cpu=2\ngang a class=1 w*1:cpu=2"),
            "preempt x/w-0; wait a Leaving");
  EXPECT_EQ(outcome("node n1 cpu=2\ngang x firm w@n1:cpu=2\ngang a class=1 w*1:cpu=2"), "wait a Resources");
}

// 1642, 2256, 4812: who is not complete takes nothing from anybody, whatever its priority.
TEST(SchedulingPain, V1195_AGangWithoutItsPodsIsNotStarving) {
  EXPECT_EQ(outcome("node n1 cpu=2\ngang x w@n1:cpu=2\ngang a class=9 min=3 w*2:cpu=1"),
            "wait a MembersMissing");
}

// 1187, 1461, 3861, 4165
TEST(SchedulingPain, V1373_AQueueGetsItsPartBack) {
  EXPECT_EQ(outcome("node n1 cpu=4\nqueue p\nqueue q\ngang x queue=q w@n1:cpu=2\ngang y queue=q w@n1:cpu=2\n"
                    "gang a queue=p w*1:cpu=2"),
            "reclaim x/w-0; wait a Leaving");
}

TEST(SchedulingPain, V4949_QueuesDoNotTakeTheSameRoomInTurn) {
  World world(
      "node n1 cpu=4\nqueue p\nqueue q\ngang x queue=q w@n1:cpu=2\ngang y queue=q w@n1:cpu=2\n"
      "gang a queue=p w*1:cpu=2\ngang b queue=p w*1:cpu=2\ngang c queue=q w*1:cpu=2");
  size_t evictions = 0;
  for (int round = 0; round < 20; ++round) {
    Decisions decisions = world.run();
    evictions += decisions.evictions.size();
    world.carry_out(decisions);
  }
  EXPECT_EQ(evictions, 1u);
}

TEST(SchedulingPain, V4918_OnlyThoseGoThatHoldWhatIsLacking) {
  EXPECT_EQ(
      outcome(
          "node n1 cpu=9 gpu=1\ngang x w@n1:cpu=4\ngang y w@n1:cpu=1,gpu=1\ngang a class=1 w*1:cpu=1,gpu=1"),
      "preempt y/w-0; wait a Leaving");
}

// 2052, 3095, 2045, 947; kube-batch 514
TEST(SchedulingPain, V748_SmallOnesDoNotOvertakeALargeOneForEver) {
  World world(
      "node n1 cpu=4\ngang large age=600 w*4:cpu=1\ngang s0 w@n1:cpu=1\ngang s1 w*1:cpu=1\ngang s2 "
      "w*1:cpu=1");
  EXPECT_EQ(summary(world.run()),
            "wait large Resources; wait s1 BehindReserved; wait s2 BehindReserved; reserve large");
}

TEST(SchedulingPain, V3220_AFullQueueSaysWhatItHoldsAndMayHold) {
  World world(
      "node n1 cpu=9\nqueue default cap.cpu=4\ngang x w@n1:cpu=3\ngang a w*2:cpu=1\ngang b min=1 asks.cpu=2");
  EXPECT_EQ(reason(world, "a"), "needs 2 cpu, queue default holds 3 of the 4 it may");
  EXPECT_EQ(reason(world, "b"), "needs 2 cpu, queue default has 5 of the 4 it may hold spoken for");
}

// 2389
TEST(SchedulingPain, V2143_AGroupWithoutPodsTakesNothingFromOthers) {
  EXPECT_EQ(outcome("node n1 cpu=4\ngang old min=4\ngang new min=4 asks.cpu=4"),
            "admit new; wait old MembersMissing");
}

// 1052, 1417, 1827; kube-batch 938: what others placed counts.
TEST(SchedulingPain, V2700_NoNodeGetsMoreThanItHas) {
  EXPECT_EQ(outcome("node n1 cpu=4\nnode n2 cpu=4\nother n1 cpu=3\ngang a w*1:cpu=2"), "a/w-0=n2");
}

TEST(SchedulingPain, V3301_ANodeThatHoldsMoreThanItHasDoesNoHarm) {
  EXPECT_EQ(outcome("node n1 cpu=1\nnode n2 cpu=2\nother n1 cpu=3\ngang x w@n1:cpu=2\ngang a w*1:cpu=2"),
            "a/w-0=n2");
  EXPECT_EQ(outcome("node n1 cpu=1\nother n1 cpu=3\ngang x w@n1:cpu=2\ngang a w*1:cpu=1"),
            "never a TooLarge");
}

TEST(SchedulingPain, K446_NobodyGoesForAGangThatStillDoesNotFit) {
  EXPECT_EQ(outcome("node n1 cpu=2\nnode n2 cpu=2\ngang x w@n1:cpu=2\ngang y firm w@n2:cpu=2\ngang a class=1 "
                    "w*2:cpu=2"),
            "wait a Resources");
}

TEST(SchedulingPain, K376_NoMoreGoThanAreNeeded) {
  EXPECT_EQ(
      outcome(
          "node n1 cpu=4\ngang x w@n1:cpu=1\ngang y w@n1:cpu=1\ngang z w@n1:cpu=2\ngang a class=1 w*1:cpu=1"),
      "preempt x/w-0; wait a Leaving");
}

// 117, 682, 930: nobody holds nodes while it waits for the others.
TEST(SchedulingPain, S114_TwoHalvesDoNotWaitForEachOther) {
  EXPECT_EQ(outcome("node n1 cpu=4\ngang a age=2 w*3:cpu=1\ngang b age=1 w*3:cpu=1"),
            "a/w-0=n1 a/w-1=n1 a/w-2=n1; wait b Resources");
}

// 2391: not one gang for each queue and cycle.
TEST(SchedulingPain, Q14477_AllThatFitStartInOnePass) {
  std::string world = "node n1 cpu=90\n";
  for (int g = 0; g < 50; ++g) world += fmt::format("gang g{} w*1:cpu=1\n", g);
  EXPECT_EQ(bound_in(world), 50u);
}

}  // namespace
}  // namespace trainyard::sched::testing
