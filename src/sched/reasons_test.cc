// What people read who wait: reasons.h and neighbours.h, as schedule() answers.
#include <gtest/gtest.h>

#include "sched/testing.h"

namespace trainyard::sched::testing {
namespace {

TEST(Reasons, SayWhatIsLackingAndWhoFreesIt) {
  World gpus(
      "node n1 cpu=9 gpu=4 zone=a\nnode n2 cpu=9 gpu=4\ngang x w@n1:cpu=1,gpu=1\ngang a "
      "w*4:cpu=1,gpu=1,zone=a");
  EXPECT_EQ(reason(gpus, "a"),
            "needs 4 x nvidia.com/gpu on nodes zone=a; 3 free, 1 frees when default/x ends");
  World pieces(
      "node n1 cpu=3\nnode n2 cpu=3\ngang x w@n1:cpu=1\ngang y w@n2:cpu=1\ngang a w*2:cpu=2\ngang b "
      "w*1:cpu=3");
  EXPECT_EQ(reason(pieces, "b"), "needs 3 cpu; 0 free, 1 frees when default/x ends, 1 when default/y ends");
  World whole("node n1 cpu=3\nnode n2 cpu=3\ngang x w@n1:cpu=1\ngang y w@n2:cpu=1\ngang b w*1:cpu=3");
  EXPECT_EQ(reason(whole, "b"), "needs 1 pod of 3 cpu; enough is free in all, but in pieces: 0 of them fit");
  World one("node n1 cpu=5\nnode n2 cpu=5\ngang x w@n1:cpu=1\ngang y w@n2:cpu=3\ngang b w*2:cpu=3");
  EXPECT_EQ(reason(one, "b"), "needs 2 pods of 3 cpu; enough is free in all, but in pieces: 1 of them fits");
  World never(
      "node n1 cpu=3 zone=b\nnode n2 cpu=3 cordoned\ngang b w*1:cpu=1,zone=a\ngang c w*1:cpu=4\ngang d "
      "w*2:cpu=3");
  EXPECT_EQ(reason(never, "b"), "no node may take it: of 2 nodes 1 cordoned, 1 not zone=a");
  EXPECT_EQ(reason(never, "c"), "a pod needs 4 cpu; the largest has 3");
  EXPECT_EQ(reason(never, "d"), "needs 6 cpu; there are 3 in all (nodes that are left out: 1 cordoned)");
  World larger(
      "node n1 cpu=3\nnode n2 cpu=9 down\nnode n3 cpu=9 cordoned\nnode n4 cpu=2 taint=x\n"
      "gang a w*1:cpu=4");
  EXPECT_EQ(reason(larger, "a"),
            "a pod needs 4 cpu; the largest has 3 (nodes that are left out: 1 not ready, 1 cordoned)");
  World racks("node n1 cpu=4 rack=a\nnode n2 cpu=3 rack=b\nnode n3 cpu=3 rack=b\ngang a same=rack w*7:cpu=1");
  EXPECT_EQ(reason(racks, "a"), "needs 7 pods with the same rack; no one of them has room for all");
  World full(
      "node n1 cpu=9\nqueue default cap.cpu=2\ngang x w@n1:cpu=1\ngang a w*2:cpu=1\ngang b min=3 w*2:cpu=1");
  EXPECT_EQ(reason(full, "a"), "needs 2 cpu, queue default holds 1 of the 2 it may");
  EXPECT_EQ(reason(full, "b"), "needs 3 pods; 1 is not there yet");
}

TEST(Reasons, OfMembersBeyondTheMinimum) {
  World queue("node n1 cpu=9\nqueue default cap.cpu=2\ngang a min=1 w@n1:cpu=1 w*3:cpu=1");
  EXPECT_EQ(reason(queue, "a"),
            "has its minimum; 2 more pods wait: one needs 1 cpu, queue default holds 2 of the 2 it may");
  World room("node n1 cpu=2 zone=a\nnode n2 cpu=9\ngang a min=1 w@n1:cpu=1,zone=a w*2:cpu=1,zone=a");
  EXPECT_EQ(reason(room, "a"), "has its minimum; 1 more pod waits for room: 1 pod of 1 cpu on nodes zone=a");
}

TEST(Reasons, OfOneThatIsNotThere) {
  EXPECT_EQ(reason(World("node n1 cpu=9\ngang a min=1"), "a"), "needs 1 pod; 1 is not there yet");
}

TEST(Reasons, NameTheOneThatIsReservedFor) {
  World world("node n1 cpu=4\ngang x w@n1:cpu=2\ngang old age=400 w*1:cpu=4\ngang b w*1:cpu=2");
  EXPECT_EQ(reason(world, "b"), "fits, but would delay default/old, which has waited longer");
}

// What becomes of the gang "a" of each, and what it is told.
TEST(Reasons, NameWhatIsInTheWay) {
  const std::string one = "node n1 cpu=9 zone=a\n";
  const std::string two = one + "node n2 cpu=9 zone=b\n";
  const std::string host = "kubernetes.io/hostname";
  auto told = [](const std::string& world) { return outcome(world) + ": " + reason(World(world), "a"); };
  EXPECT_EQ(told(one + "gang x w@n1:cpu=1,port=80\ngang a w*1:cpu=1,port=80"),
            "wait a Resources: needs 1 pod with host port 80, one to a node; 0 fit, default/x has the port");
  EXPECT_EQ(told(two + "gang a w*2:cpu=1,port=80,zone=b"),
            "never a TooLarge: needs 2 pods on nodes zone=b with host port 80, one to a node; 1 fits");
  EXPECT_EQ(told(two + "gang a p*1:cpu=1,port=80,zone=b,app=x w*1:cpu=1,port=80,zone=b"),
            "never a TooLarge: needs 2 pods on nodes zone=b with host port 80, one to a node; 1 fits")
      << "another label makes no difference";
  EXPECT_EQ(
      told(two + "gang a w*3:cpu=1,app=x,apart=x/" + host),
      "never a TooLarge: needs 3 pods, none with the same kubernetes.io/hostname as another of the pods "
      "app=x (anti-affinity); 2 fit");
  EXPECT_EQ(told(one + "gang x w@n1:cpu=1,app=x\ngang a w*1:cpu=1,apart=x/zone"),
            "wait a Resources: needs 1 pod, none with the same zone as pods app=x (anti-affinity); 0 fit");
  EXPECT_EQ(told(one + "gang x w@n1:cpu=1,apart=y/zone\ngang a w*1:cpu=1,app=y"),
            "wait a Resources: needs 1 pod; 0 fit, elsewhere are pods that want none like them with the same "
            "zone (anti-affinity)");
  EXPECT_EQ(told(two + "gang a w*1:cpu=1,near=x/zone"),
            "never a TooLarge: needs 1 pod with the same zone as pods app=x (affinity); there are none");
  EXPECT_EQ(told(two + "gang x w@n1:cpu=8,app=x\ngang a w*2:cpu=1,near=x/zone"),
            "wait a Resources: needs 2 pods with the same zone as pods app=x (affinity); 1 fits")
      << "there will be room when others there end";
  EXPECT_EQ(
      told("node n1 cpu=9 taint=gpu\nnode n2 cpu=9 cordoned\nnode n3 cpu=9 zone=a\ngang a w*1:cpu=1,zone=b"),
      "never a NoNode: no node may take it: of 3 nodes 1 cordoned, 2 not zone=b");
  EXPECT_EQ(told("node n1 cpu=9 taint=gpu\ngang a w*1:cpu=1"),
            "never a NoNode: no node may take it: of 1 node 1 with taint gpu:NoSchedule, which it does not "
            "tolerate");
  EXPECT_EQ(
      told("node n1 cpu=9 taint=a\nnode n2 cpu=9 taint=b\nnode n3 cpu=9 taint=c\nnode n4 cpu=9 taint=d\n"
           "node n5 cpu=9 taint=e\nnode n6 cpu=9 taint=f\ngang a w*1:cpu=1"),
      "never a NoNode: no node may take it: of 6 nodes 1 with taint a:NoSchedule, which it does not "
      "tolerate, 1 with taint b:NoSchedule, which it does not tolerate, 1 with taint c:NoSchedule, which "
      "it does not tolerate, 1 with taint d:NoSchedule, which it does not tolerate, 2 for other reasons");
  EXPECT_EQ(told(one + "queue default cap.cpu=2\ngang a min=3 asks.cpu=3"),
            "never a QueueFull: needs 3 cpu, queue default may hold no more than 2");
  EXPECT_EQ(told(one + "queue default ns=x\ngang a w*1:cpu=1"),
            "never a Namespace: queue default does not serve namespace default: let it, or name another");
}

}  // namespace
}  // namespace trainyard::sched::testing
