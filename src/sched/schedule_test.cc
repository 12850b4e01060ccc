// The policies one by one, each as a small world and what comes of it.
#include "sched/schedule.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace trainyard::sched::testing {
namespace {

struct Case {
  const char* what;
  const char* world;
  const char* outcome;
};

void expect(const std::vector<Case>& cases) {
  for (const Case& one : cases) EXPECT_EQ(outcome(one.world), one.outcome) << one.what;
}

TEST(Schedule, AllOrNothing) {
  expect({
      {"a gang that fits is bound whole", "node n1 cpu=4\ngang a worker*3:cpu=1",
       "a/worker-0=n1 a/worker-1=n1 a/worker-2=n1"},
      {"one that does not is not bound at all",
       "node n1 cpu=2\nnode n2 cpu=2\ngang a worker*3:cpu=2\ngang b worker*1:cpu=2\n",
       "b/worker-0=n1; never a TooLarge"},
      {"two that each need more than half: one, whole",
       "node n1 cpu=2\nnode n2 cpu=2\ngang a age=9 worker*3:cpu=1\ngang b age=8 worker*3:cpu=1",
       "a/worker-0=n1 a/worker-1=n1 a/worker-2=n2; wait b Resources"},
      {"the minimum first, extras when all had their turn",
       "node n1 cpu=4\ngang a age=9 min=1 worker*3:cpu=1\ngang b age=8 min=2 worker*2:cpu=1",
       "a/worker-0=n1 a/worker-1=n1 b/worker-0=n1 b/worker-1=n1; wait a ExtraMembers"},
      {"minimums of roles", "node n1 cpu=3\ngang a min=2 worker.min=2 ps*2:cpu=1 worker*2:cpu=1",
       "a/ps-0=n1 a/worker-0=n1 a/worker-1=n1; wait a ExtraMembers"},
      {"of a gang that may leave some out, those that fit",
       "node n1 cpu=2\ngang a min=2 big*2:cpu=8 small*2:cpu=1",
       "a/small-0=n1 a/small-1=n1; wait a ExtraMembers"},
      {"what has ended counts, what failed does not",
       "node n1 cpu=1\ngang a min=3 worker+:cpu=1 worker@n1:cpu=1 worker-:cpu=1", "wait a MembersMissing"},
      {"pods that are not there or gated", "node n1 cpu=4\ngang a min=3 worker*2:cpu=1 worker?:cpu=1",
       "wait a MembersMissing"},
      {"large members first", "node n1 cpu=4\nnode n2 cpu=1\ngang a ps*1:cpu=1 worker*1:cpu=4",
       "a/ps-0=n2 a/worker-0=n1"},
      {"a way that only a search finds", "node n1 cpu=6\nnode n2 cpu=5\ngang a x*1:cpu=4 y*1:cpu=3 z*2:cpu=2",
       "a/x-0=n1 a/y-0=n2 a/z-0=n1 a/z-1=n2"},
  });
}

TEST(Schedule, WhatIsGuaranteedComesBeforeHigherQueuesChoose) {
  World world(
      "node n0 cpu=3\nnode n1 cpu=3\nqueue low guarantee.cpu=2\nqueue high priority=1\n"
      "gang a queue=high w*1:cpu=2\ngang b queue=low w*1:cpu=2,disk=n0");
  EXPECT_EQ(summary(world.run()), "b/w-0=n0 a/w-0=n1");
  World later(
      "node n0 cpu=3\nnode n1 cpu=3\nqueue low guarantee.cpu=2\nqueue high priority=1\n"
      "gang a queue=high w@n0:cpu=2\ngang b queue=low w*1:cpu=2,disk=n0");
  EXPECT_EQ(summary(later.run()), "reclaim a/w-0; wait b Leaving");
}

// A reservation is for the old one; what the other wants to be near is there now, and would not be on an
// empty cluster.
TEST(Schedule, WhatFitsNowIsNotTooLarge) {
  EXPECT_EQ(outcome("node n0 cpu=2\nnode n1 cpu=4 zone=a\ngang y w@n1:cpu=1,app=y\n"
                    "gang old age=900 w*3:cpu=2\ngang near age=10 w*1:cpu=2,near=y/zone"),
            "wait old Resources; wait near BehindReserved; reserve old");
}

TEST(Schedule, Nodes) {
  expect({
      {"selector", "node n1 cpu=4\nnode n2 cpu=4 zone=a\ngang a worker*1:cpu=1,zone=a", "a/worker-0=n2"},
      {"no such node", "node n1 cpu=4\ngang a worker*1:cpu=1,zone=a", "never a NoNode"},
      {"cordoned and down", "node n1 cpu=4 cordoned\nnode n2 cpu=4 down\ngang a worker*1:cpu=1",
       "never a NoNode"},
      {"taint",
       "node n1 cpu=4 taint=gpu\nnode n2 cpu=4\ngang a worker*1:cpu=1\ngang b worker*1:cpu=4,tolerates=gpu",
       "a/worker-0=n2 b/worker-0=n1"},
      {"rather not", "node n1 cpu=4 rather-not=old\nnode n2 cpu=4\ngang a worker*1:cpu=1", "a/worker-0=n2"},
      {"required affinity: one of the terms",
       "node n1 cpu=4\nnode n2 cpu=4 zone=b\nnode n3 cpu=1 zone=d\n"
       "gang a worker*2:cpu=3,needs=zone~a,needs=zone~b|d\ngang b worker*1:cpu=1,needs=zone~d",
       "b/worker-0=n3; never a TooLarge"},
      {"required affinity of no node", "node n1 cpu=4 zone=a\ngang a worker*1:cpu=1,needs=zone~b|c",
       "never a NoNode"},
      {"where its volume is", "node n1 cpu=4\nnode n2 cpu=4\nnode n3 cpu=4\ngang a worker*2:cpu=1,disk=n2|n3",
       "a/worker-0=n2 a/worker-1=n2"},
      {"a volume and room elsewhere", "node n1 cpu=4\nnode n2 cpu=1\ngang a worker*2:cpu=1,disk=n2",
       "never a TooLarge"},
      {"wishes", "node n1 cpu=4\nnode n2 cpu=4 disk=ssd\ngang a worker*1:cpu=1,wishes=disk~ssd",
       "a/worker-0=n2"},
      {"volumes", "node n1 cpu=4\nnode n2 cpu=4\ngang a worker*1:cpu=1,disk=n2", "a/worker-0=n2"},
      {"no gpu left idle",
       "node n1 cpu=4 gpu=1\nnode n2 cpu=4\ngang a worker*1:cpu=1\ngang b worker*1:cpu=1,gpu=1",
       "a/worker-0=n2 b/worker-0=n1"},
      {"host ports", "node n1 cpu=4\nnode n2 cpu=4\ngang a worker*2:cpu=1,port=80",
       "a/worker-0=n1 a/worker-1=n2"},
      {"host ports, too many", "node n1 cpu=4\ngang a worker*2:cpu=1,port=80", "never a TooLarge"},
      {"apart by host",
       "node n1 cpu=4\nnode n2 cpu=4\ngang a worker*2:cpu=1,app=x,apart=x/kubernetes.io/hostname",
       "a/worker-0=n1 a/worker-1=n2"},
      {"apart from one that is there",
       "node n1 cpu=4\nnode n2 cpu=4\ngang b worker@n1:cpu=1,app=x\ngang a "
       "worker*1:cpu=1,apart=x/kubernetes.io/hostname",
       "a/worker-0=n2"},
      {"one that is there wants to be apart",
       "node n1 cpu=4\nnode n2 cpu=4\ngang b worker@n1:cpu=1,apart=x/kubernetes.io/hostname\ngang a "
       "worker*1:cpu=1,app=x",
       "a/worker-0=n2"},
      {"near, the first of them anywhere",
       "node n1 cpu=1 zone=a\nnode n2 cpu=2 zone=b\ngang a worker*2:cpu=1,app=x,near=x/zone",
       "a/worker-0=n2 a/worker-1=n2"},
      {"near another role",
       "node n1 cpu=2 zone=a\nnode n2 cpu=2 zone=b\ngang a worker*2:cpu=1,near=ps/zone "
       "ps*1:cpu=1,app=ps,zone=b\n",
       "never a TooLarge"},
      {"likes company",
       "node n1 cpu=4\nnode n2 cpu=4\ngang b w@n2:cpu=1,app=x\ngang a "
       "w*1:cpu=1,likes=x/kubernetes.io/hostname",
       "a/w-0=n2"},
      {"shuns company",
       "node n1 cpu=4\nnode n2 cpu=4\ngang b w@n1:cpu=1,app=x\ngang a "
       "w*1:cpu=1,shuns=x/kubernetes.io/hostname",
       "a/w-0=n2"},
      {"spread", "node n1 cpu=4\nnode n2 cpu=4\ngang a spread=w w*3:cpu=1", "a/w-0=n1 a/w-1=n2 a/w-2=n1"},
      {"one domain",
       "node n1 cpu=1 rack=a\nnode n2 cpu=1 rack=b\nnode n3 cpu=1 rack=b\ngang a same=rack w*2:cpu=1",
       "a/w-0=n2 a/w-1=n3"},
      {"the domain with the least room that does",
       "node n1 cpu=4 rack=a\nnode n2 cpu=2 rack=b\ngang a same=rack w*2:cpu=1", "a/w-0=n2 a/w-1=n2"},
      {"no one domain", "node n1 cpu=1 rack=a\nnode n2 cpu=1 rack=b\ngang a same=rack w*2:cpu=1",
       "never a TooLarge"},
      {"rather one domain", "node n1 cpu=1 rack=a\nnode n2 cpu=1 rack=b\ngang a rather-same=rack w*2:cpu=1",
       "a/w-0=n1 a/w-1=n2"},
      {"a lost member comes back to the domain of the others",
       "node n1 cpu=2 rack=b\nnode n2 cpu=2 rack=a\ngang a same=rack w@n1:cpu=1 w*1:cpu=1", "a/w-1=n1"},
      {"others' pods hold their place", "node n1 cpu=4\nother n1 cpu=3\ngang a w*1:cpu=2",
       "never a TooLarge"},
  });
}

TEST(Schedule, VolumesForClaims) {
  const std::string three = "node n1 cpu=4\nnode n2 cpu=4\nnode n3 cpu=4\n";
  auto in = [&](const char* rest) { return outcome(three + rest); };
  EXPECT_EQ(in("volume v on=n2 size=10\ngang a w*1:cpu=1,claim=data~10"), "a/w-0=n2; data=v");
  EXPECT_EQ(in("volume v1 on=n3 size=20\nvolume v2 on=n2 size=10\ngang a w*1:cpu=1,claim=data~10"),
            "a/w-0=n2; data=v2")
      << "on the first node that has one";
  EXPECT_EQ(in("volume v1 on=n1 size=20\nvolume v2 on=n1 size=10\ngang a w*1:cpu=1,claim=data~10"),
            "a/w-0=n1; data=v2")
      << "the smallest there";
  EXPECT_EQ(in("volume v1 on=n1 size=10\nvolume v2 on=n2 size=10\n"
               "gang a w*1:cpu=1,claim=x~10 w*1:cpu=1,claim=y~10"),
            "a/w-0=n1 a/w-1=n2; x=v1; y=v2")
      << "each has its own";
  EXPECT_EQ(in("volume v1 on=n1 size=10\nvolume v2 on=n1 size=20\nvolume v3 on=n2 size=10\n"
               "gang a w*1:cpu=1,claim=x~10,claim=y~10"),
            "a/w-0=n1; x=v1; y=v2")
      << "both where there are two";
  EXPECT_EQ(in("volume v1 on=n1 size=10\nvolume v2 on=n2 size=20\ngang a w*5:cpu=1,claim=x~10"),
            "never a TooLarge")
      << "pods that share a claim have to reach its volume";
  EXPECT_EQ(in("volume v1 on=n1 size=10\nvolume v2 on=n2|n3 size=20\ngang a w*5:cpu=1,claim=x~10"),
            "a/w-0=n2 a/w-1=n2 a/w-2=n2 a/w-3=n2 a/w-4=n3; x=v2");
  EXPECT_EQ(
      in("volume v1 on=n1 size=10\ngang a age=2 w*1:cpu=1,claim=x~10\ngang b age=1 w*1:cpu=1,claim=y~10"),
      "a/w-0=n1; x=v1; wait b Claims")
      << "one volume is one gang's";
  EXPECT_EQ(in("volume v1 on=n1 size=10\ngang a w*1:cpu=1,claim=x~10 w*1:cpu=1,claim=y~10"), "wait a Claims")
      << "all or nothing";
  EXPECT_EQ(in("room r on=n2 size=25\ngang a w*1:cpu=1,claim=x~10 w*1:cpu=1,claim=y~10"),
            "a/w-0=n2 a/w-1=n2");
  EXPECT_EQ(in("room r on=n2 size=15\nroom s on=n3 size=15\n"
               "gang a w*1:cpu=1,claim=x~10 w*1:cpu=1,claim=y~10"),
            "a/w-0=n2 a/w-1=n3")
      << "what one takes of the room is not there for the next";
  EXPECT_EQ(in("volume v on=n3 size=10\nroom r size=99\ngang a w*1:cpu=1,claim=x~10"), "a/w-0=n1")
      << "made for the node that is liked best";
  EXPECT_EQ(in("volume v on=n1 size=10\nroom r size=99\ngang a w*1:cpu=1,claim=x~10"), "a/w-0=n1; x=v")
      << "but not where there is one already";
  EXPECT_EQ(outcome("node n1 cpu=1\nnode n2 cpu=1\nvolume v1 on=n1 size=10\ngang x w@n1:cpu=1\n"
                    "gang a class=1 w*1:cpu=1,claim=d~10"),
            "preempt x/w-0; wait a Leaving")
      << "room is made where the volume is";
}

TEST(Schedule, WhyVolumesAreLacking) {
  World few("node n1 cpu=9\nvolume v1 on=n1 size=10\ngang a w*1:cpu=1,claim=x~10 w*1:cpu=1,claim=y~10");
  EXPECT_EQ(reason(few, "a"), "its claims need 2 volumes of class c; 1 that would do is free");
  World apart(
      "node n1 cpu=1\nnode n2 cpu=1\nvolume v1 on=n1 size=10\nvolume v2 on=n1 size=10\n"
      "gang a w*1:cpu=1,claim=x~10 w*1:cpu=1,claim=y~10");
  EXPECT_EQ(reason(apart, "a"),
            "there are volumes for its claims, but not on nodes that have room for all of its pods");
  World disk("node n1 cpu=4\nnode n2 cpu=4\ngang x w@n2:cpu=3\ngang a w*1:cpu=2,disk=n2");
  EXPECT_EQ(reason(disk, "a"),
            "needs 2 cpu on nodes that reach its volumes; 1 free, 3 frees when default/x ends");
}

TEST(Schedule, Queues) {
  const std::string two = "node n1 cpu=4\n";
  auto in = [&](const char* rest) { return outcome(two + rest); };
  EXPECT_EQ(in("queue q\ngang a w*1:cpu=1"), "never a NoQueue");
  EXPECT_EQ(in("queue q closed\ngang a queue=q w*1:cpu=1"), "never a QueueClosed");
  EXPECT_EQ(in("queue q closed\ngang a queue=q w@n1:cpu=1 w*1:cpu=1"), "a/w-1=n1") << "admitted before";
  EXPECT_EQ(in("queue q closed\ngang a queue=q min=1 w+:cpu=1 w*1:cpu=1"), "a/w-1=n1")
      << "what has succeeded has begun: the rest is finished";
  EXPECT_EQ(in("queue q closed\ngang a queue=q min=2 w+:cpu=1 w*1:cpu=1"), "a/w-1=n1")
      << "also when one that it needs is made anew";
  EXPECT_EQ(in("queue q closed\ngang a queue=q min=1 w-:cpu=1 w*1:cpu=1"), "never a QueueClosed")
      << "nothing of it is left: it would start anew";
  EXPECT_EQ(in("queue q closed\ngang a queue=q min=0 w*1:cpu=1"), "never a QueueClosed")
      << "one that needs nobody has not begun either";
  EXPECT_EQ(in("queue q ns=x\ngang a queue=q min=1 w@n1:cpu=1 w*1:cpu=1"), "never a Namespace")
      << "the extra member is told";
  EXPECT_EQ(in("queue q ns=x\ngang a queue=q w*1:cpu=1\ngang b ns=x queue=q w*1:cpu=1"),
            "b/w-0=n1; never a Namespace");
  EXPECT_EQ(in("queue q cap.cpu=2\ngang a age=2 queue=q w*2:cpu=1\ngang b age=1 queue=q w*1:cpu=1"),
            "a/w-0=n1 a/w-1=n1; wait b QueueFull");
  EXPECT_EQ(in("queue q cap.cpu=2\ngang a queue=q w*3:cpu=1"), "never a QueueFull");
  EXPECT_EQ(outcome("node n1 cpu=4 gpu=4\nqueue q cap.gpu=-1\ngang a queue=q w*1:gpu=1\n"
                    "gang b queue=q w*1:cpu=1\ngang c queue=q min=1 asks.gpu=1"),
            "b/w-0=n1; never a QueueFull; never c QueueFull")
      << "it may have none of them";
  EXPECT_EQ(in("queue q cap.cpu=2\ngang a queue=q min=1 w*3:cpu=1"), "a/w-0=n1 a/w-1=n1; wait a ExtraMembers")
      << "extras up to the capacity";
  EXPECT_EQ(in("queue q\nqueue g guarantee.cpu=3\ngang a queue=q w*2:cpu=1\ngang b queue=g w*2:cpu=1"),
            "b/w-0=n1 b/w-1=n1; wait a Guaranteed")
      << "one that is guaranteed has used two of its three";
  EXPECT_EQ(in("queue q on=zone:a\ngang a queue=q w*1:cpu=1"), "never a NoNode");
  EXPECT_EQ(outcome("node n1 cpu=4\nnode n2 cpu=4 zone=a\nqueue q on=zone:a\ngang a queue=q w*1:cpu=1"),
            "a/w-0=n2");
}

TEST(Schedule, Order) {
  const std::string one = "node n1 cpu=1\n";
  auto first = [&](const std::string& rest) { return outcome(one + rest).substr(0, 1); };
  EXPECT_EQ(first("gang b age=2 w*1:cpu=1\ngang a age=1 w*1:cpu=1"), "b") << "the older";
  EXPECT_EQ(first("gang b age=1 w*1:cpu=1\ngang a age=1 w*1:cpu=1"), "a") << "by id";
  EXPECT_EQ(first("gang b priority=1 w*1:cpu=1\ngang a age=9 w*1:cpu=1"), "b") << "job priority";
  EXPECT_EQ(first("gang b priority=1 w*1:cpu=1\ngang a age=1200 w*1:cpu=1"), "a") << "age is worth priority";
  EXPECT_EQ(first("gang b class=1 w*1:cpu=1\ngang a priority=100 age=1200 w*1:cpu=1"), "b")
      << "PriorityClass";
  EXPECT_EQ(first("gang b priority=99 w*1:cpu=1\ngang a age=14400 w*1:cpu=1"), "a") << "overdue";
  EXPECT_EQ(first("gang b class=1 w*1:cpu=1\ngang a age=14400 w*1:cpu=1"), "b")
      << "but who may preempt it goes first";
  EXPECT_EQ(first("queue p priority=1\nqueue default\ngang b queue=p w*1:cpu=1\ngang a class=9 w*1:cpu=1"),
            "b")
      << "queue priority";
  EXPECT_EQ(outcome("node n1 cpu=4\nqueue p\nqueue q\n"
                    "gang x queue=q w@n1:cpu=1\ngang a queue=q age=9 w*1:cpu=2\ngang b queue=p w*1:cpu=2\n"),
            "b/w-0=n1; wait a Resources")
      << "the queue with the smaller share";
  EXPECT_EQ(
      outcome("node n1 cpu=6\nqueue p weight=2\nqueue q\n"
              "gang x queue=q w@n1:cpu=1\ngang y queue=p w@n1:cpu=1\ngang a queue=q age=9 w*1:cpu=3\ngang b "
              "queue=p w*1:cpu=3\n"),
      "b/w-0=n1; wait a Resources")
      << "by weight";
  EXPECT_EQ(outcome("node n1 cpu=4\nnode n2 cpu=4\n"
                    "gang x was-whole w@n1:cpu=3 w*1:cpu=4\ngang a class=9 age=99 w*1:cpu=4\n"),
            "x/w-1=n2; wait a Resources")
      << "one that lost a member has first claim";
}

TEST(Schedule, Preemption) {
  expect({
      {"a higher queue takes, whole gangs",
       "node n1 cpu=4\nqueue p priority=1\nqueue default\ngang x w@n1:cpu=2 w@n1:cpu=2\ngang a queue=p "
       "w*1:cpu=1",
       "preempt x/w-0; preempt x/w-1; wait a Leaving"},
      {"an equal one does not",
       "node n1 cpu=4\nqueue p\nqueue default\ngang x w@n1:cpu=4\ngang a queue=p w*1:cpu=4",
       "wait a Resources"},
      {"inside a queue by PriorityClass", "node n1 cpu=4\ngang x w@n1:cpu=4\ngang a class=1 w*1:cpu=1",
       "preempt x/w-0; wait a Leaving"},
      {"inside a queue not by job priority",
       "node n1 cpu=4\ngang x w@n1:cpu=4\ngang a priority=100 w*1:cpu=1", "wait a Resources"},
      {"not one that is not to be taken", "node n1 cpu=4\ngang x firm w@n1:cpu=4\ngang a class=1 w*1:cpu=1",
       "wait a Resources"},
      {"nor by one that does not take", "node n1 cpu=4\ngang x w@n1:cpu=4\ngang a meek class=1 w*1:cpu=1",
       "wait a Resources"},
      {"nor from a queue that is kept",
       "node n1 cpu=4\nqueue p priority=1\nqueue default kept\ngang x w@n1:cpu=4\ngang a queue=p w*1:cpu=1",
       "wait a Resources"},
      {"nor below a guarantee",
       "node n1 cpu=4\nqueue p priority=1\nqueue g guarantee.cpu=2\ngang x queue=g w@n1:cpu=4\ngang a "
       "queue=p w*1:cpu=1",
       "wait a Resources"},
      {"nobody goes for nothing",
       "node n1 cpu=4\nnode n2 cpu=4\ngang x w@n1:cpu=4\ngang y class=2 w@n2:cpu=4\ngang a class=1 w*2:cpu=4",
       "wait a Resources"},
      {"the lowest goes",
       "node n1 cpu=4\nnode n2 cpu=4\ngang x class=1 w@n1:cpu=4\ngang y w@n2:cpu=4\ngang a class=2 w*1:cpu=4",
       "preempt y/w-0; wait a Leaving"},
      {"the fewest pods go",
       "node n1 cpu=4\nnode n2 cpu=4\ngang x age=1 w@n1:cpu=2 w@n1:cpu=2\ngang y age=2 w@n2:cpu=4\ngang a "
       "class=2 w*1:cpu=4",
       "preempt y/w-0; wait a Leaving"},
      {"only those that free what is lacking",
       "node n1 cpu=4 gpu=1\nnode n2 cpu=4\ngang x age=5 w@n1:cpu=1,gpu=1\ngang y w@n2:cpu=1\ngang a class=2 "
       "w*1:cpu=1,gpu=1",
       "preempt x/w-0; wait a Leaving"},
      {"room that is becoming free is enough",
       "node n1 cpu=4\nnode n2 cpu=4\ngang x w~n1:cpu=4\ngang y w@n2:cpu=4\ngang a class=2 w*1:cpu=4",
       "wait a Leaving; wait x MembersMissing"},
      {"and is promised: nobody else gets it",
       "node n1 cpu=4\ngang x min=0 w~n1:cpu=2\ngang a class=2 w*1:cpu=4\ngang b w*1:cpu=1",
       "wait a Leaving; wait b Resources"},
      {"its own queue's capacity, by one of its own",
       "node n1 cpu=8\nqueue default cap.cpu=4\ngang x w@n1:cpu=4\ngang a class=2 w*1:cpu=4",
       "preempt x/w-0; wait a Leaving"},
      {"an eviction that was begun is finished",
       "node n1 cpu=8\ngang x min=2 w!n1:cpu=1 w@n1:cpu=1 w*1:cpu=1\n", "finish x/w-1; wait x OwnMembers"},
      {"and nothing of it starts meanwhile", "node n1 cpu=8\ngang x min=2 w!n1:cpu=1 w*2:cpu=1\n",
       "wait x OwnMembers"},
  });
}

TEST(Schedule, Reclaim) {
  expect({
      {"by weight: what one queue has beyond its part",
       "node n1 cpu=4\nqueue p\nqueue q\ngang x queue=q w@n1:cpu=2\ngang y queue=q w@n1:cpu=2\ngang a "
       "queue=p w*1:cpu=2",
       "reclaim x/w-0; wait a Leaving"},
      {"not more than its own part",
       "node n1 cpu=4\nqueue p\nqueue q\ngang x queue=q w@n1:cpu=2\ngang y queue=q w@n1:cpu=2\ngang a "
       "queue=p w*1:cpu=3",
       "wait a Resources"},
      {"not below the other's part",
       "node n1 cpu=4\nqueue p\nqueue q\ngang x queue=q w@n1:cpu=4\ngang a queue=p w*1:cpu=2",
       "wait a Resources"},
      {"a guarantee from a higher queue",
       "node n1 cpu=4\nqueue p guarantee.cpu=2\nqueue q priority=5\ngang x queue=q w@n1:cpu=2\ngang y "
       "queue=q "
       "w@n1:cpu=2\ngang a queue=p w*1:cpu=2",
       "reclaim x/w-0; wait a Leaving"},
      {"a guarantee by the next of its queue that there is enough for",
       "node n0 cpu=2 cordoned\nnode n1 cpu=2\nqueue default\nqueue q guarantee.cpu=3\ngang x age=9 "
       "w*1:cpu=1\n"
       "gang large queue=q age=9 w*2:cpu=3\ngang a queue=q w*1:cpu=2",
       "a/w-0=n1; never large NoNode; wait x Resources"},
      {"not by one that is held up in its queue: the other would have its place again",
       "node n0 cpu=4 taint=t\nnode n1 cpu=2\nqueue default\nqueue q guarantee.cpu=3\n"
       "gang y firm w@n0:cpu=1,tolerates=t\ngang x w@n1:cpu=1\n"
       "gang large queue=q age=9 w*1:cpu=4,tolerates=t\ngang a queue=q w*1:cpu=2",
       "wait large Resources; wait a Resources"},
      {"what is stated as deserved",
       "node n1 cpu=4\nqueue p deserved.cpu=3\nqueue q deserved.cpu=1\ngang x queue=q w@n1:cpu=1\ngang y "
       "queue=q "
       "w@n1:cpu=3\ngang a queue=p w*1:cpu=3",
       "reclaim y/w-0; wait a Leaving"},
  });
}

TEST(Schedule, Reservation) {
  expect({
      {"the young one is overtaken",
       "node n1 cpu=4\ngang x w@n1:cpu=2\ngang a age=200 w*1:cpu=4\ngang b w*1:cpu=2",
       "b/w-0=n1; wait a Resources"},
      {"one that has waited is reserved for",
       "node n1 cpu=4\ngang x w@n1:cpu=2\ngang a age=400 w*1:cpu=4\ngang b w*1:cpu=2",
       "wait a Resources; wait b BehindReserved; reserve a"},
      {"what it does not need is free for others",
       "node n1 cpu=4\nnode n2 cpu=2\ngang x w@n1:cpu=2\ngang a age=400 w*1:cpu=4\ngang b w*1:cpu=2",
       "b/w-0=n2; wait a Resources; reserve a"},
      {"one that is gone in time may go first",
       "node n1 cpu=4\ngang x ends=100 w@n1:cpu=2\ngang a age=400 w*1:cpu=4\ngang b runs=100 w*1:cpu=2",
       "b/w-0=n1; wait a Resources; reserve a"},
      {"one that is not may not",
       "node n1 cpu=4\ngang x ends=100 w@n1:cpu=2\ngang a age=400 w*1:cpu=4\ngang b runs=101 w*1:cpu=2",
       "wait a Resources; wait b BehindReserved; reserve a"},
      {"extras do not delay it either",
       "node n1 cpu=4\ngang x min=1 w@n1:cpu=2 w*1:cpu=2\ngang a age=400 w*1:cpu=4",
       "wait a Resources; wait x ExtraMembers; reserve a"},
      {"not for one that took longer than it said",
       "node n1 cpu=4\ngang x w@n1:cpu=2\ngang a timeout=60 age=400 w*1:cpu=4\ngang b w*1:cpu=2",
       "b/w-0=n1; wait a Resources"},
  });
  World strict("node n1 cpu=4\ngang x w@n1:cpu=2\ngang a age=9 w*1:cpu=4\ngang b w*1:cpu=2");
  strict.policy.backfill = false;
  EXPECT_EQ(summary(strict.run()), "wait a Resources; wait b BehindReserved");
}

TEST(Schedule, BrokenGangs) {
  expect({
      {"bound in part: completed", "node n1 cpu=4\ngang a w@n1:cpu=2 w*1:cpu=2", "a/w-1=n1"},
      {"bound in part and no room: given back",
       "node n1 cpu=4\ngang x w@n1:cpu=2\ngang a w@n1:cpu=2 w*1:cpu=2", "release a/w-0; wait a Resources"},
      {"was whole: keeps its place for a while",
       "node n1 cpu=4\ngang x w@n1:cpu=2\ngang a was-whole broken=60 w@n1:cpu=2 w*1:cpu=2",
       "wait a Resources"},
      {"and then not", "node n1 cpu=4\ngang x w@n1:cpu=2\ngang a was-whole broken=600 w@n1:cpu=2 w*1:cpu=2",
       "release a/w-0; wait a Resources"},
      {"two that hold parts of what both need",
       "node n1 cpu=4\ngang a was-whole age=9 w@n1:cpu=2 w*1:cpu=2\ngang b was-whole w@n1:cpu=2 w*1:cpu=2",
       "release b/w-0; wait a Leaving; wait b OwnMembers"},
      {"room is kept for a pod that is not there yet",
       "node n1 cpu=4\ngang a min=2 was-whole broken=9 w@n1:cpu=2 w-:cpu=2\ngang b w*1:cpu=1",
       "wait a MembersMissing; wait b Resources"},
      {"but not for ever, and those that run go on",
       "node n1 cpu=4\ngang a min=2 was-whole broken=600 w@n1:cpu=2 w-:cpu=2\ngang b w*1:cpu=1",
       "b/w-0=n1; wait a MembersMissing"},
      {"bound in part, and the rest is not there: given back",
       "node n1 cpu=4\ngang a min=3 broken=5 w@n1:cpu=2 w*1:cpu=1", "release a/w-0; wait a MembersMissing"},
      {"but not while it is being made", "node n1 cpu=4\ngang a min=3 broken=4 w@n1:cpu=2 w*1:cpu=1",
       "wait a MembersMissing"},
      {"bound in part, and its queue is gone",
       "node n1 cpu=4\nqueue q\ngang a queue=gone w@n1:cpu=1 w*1:cpu=1", "release a/w-0; never a NoQueue"},
      {"bound in part, and its queue serves it no more",
       "node n1 cpu=4\nqueue q ns=x\ngang a queue=q w@n1:cpu=1 w*1:cpu=1",
       "release a/w-0; never a Namespace"},
      {"its timeout counts from when it was broken",
       "node n1 cpu=4\ngang x w@n1:cpu=2\ngang a timeout=60 age=9000 was-whole broken=30 w@n1:cpu=2 "
       "w*1:cpu=2",
       "wait a Resources; reserve a"},
      {"and ends its hold",
       "node n1 cpu=4\ngang x w@n1:cpu=2\ngang a timeout=60 age=9000 was-whole broken=60 w@n1:cpu=2 "
       "w*1:cpu=2",
       "release a/w-0; wait a Resources"},
  });
}

// Whatever somebody writes into a group.
TEST(Schedule, NumbersWithoutMeasure) {
  expect({
      {"a minimum beyond counting", "node n1 cpu=4\ngang a min=2147483647 was-whole broken=9 w@n1:cpu=1",
       "wait a MembersMissing"},
      {"minimums of roles that add up to more than there are numbers",
       "node n1 cpu=4\ngang a min=1 w.min=2147483647 x.min=2147483647 w*1:cpu=1", "wait a MembersMissing"},
      {"more of a resource than there are numbers",
       "node n1 cpu=4\nqueue default cap.cpu=4\ngang x w@n1:cpu=1\ngang a w*1:cpu=9000000000000000",
       "never a QueueFull"},
  });
  World memory(
      "node n1 cpu=4\nqueue default cap.mem=100\ngang x w@n1:cpu=1,mem=1\n"
      "gang a min=1 asks.mem=9223372036854775807\ngang b w*1:mem=9223372036854775807");
  EXPECT_EQ(summary(memory.run()), "never b QueueFull; never a QueueFull");
}

TEST(Schedule, ElasticGangs) {
  expect({
      {"as many beyond the minimum as the queue may hold",
       "node n1 cpu=9\nqueue default cap.cpu=4\ngang a min=1 w*6:cpu=1",
       "a/w-0=n1 a/w-1=n1 a/w-2=n1 a/w-3=n1; wait a ExtraMembers"},
      {"those that are too large for it do not stand in the way of others",
       "node n1 cpu=9\nqueue default cap.cpu=4\ngang a min=1 w*1:cpu=1 x*2:cpu=4 y*2:cpu=1",
       "a/w-0=n1 a/y-0=n1 a/y-1=n1; wait a ExtraMembers"},
      {"one of them is made to leave by another scheduler: the others are enough",
       "node n1 cpu=9\ngang a min=2 w@n1:cpu=1 w@n1:cpu=1 w!n1:cpu=1", ""},
      {"and when they are not", "node n1 cpu=9\ngang a min=3 w@n1:cpu=1 w@n1:cpu=1 w!n1:cpu=1",
       "finish a/w-0; finish a/w-1; wait a OwnMembers"},
  });
}

TEST(Schedule, Admission) {
  expect({
      {"let in", "node n1 cpu=4\ngang a min=2 asks.cpu=4", "admit a"},
      {"a fifth over what is there",
       "node n1 cpu=10\ngang a age=9 min=2 asks.cpu=8\ngang b min=2 asks.cpu=4\ngang c min=1 asks.cpu=1",
       "admit a; admit b; wait c NotAdmitted"},
      {"not beyond the queue's capacity",
       "node n1 cpu=10\nqueue default cap.cpu=4\ngang a age=9 min=2 asks.cpu=3\ngang b min=2 asks.cpu=3",
       "admit a; wait b NotAdmitted"},
      {"more than there is", "node n1 cpu=4\ngang a min=2 asks.cpu=5", "never a TooLarge"},
  });
}

TEST(Schedule, AdmissionKnowsRights) {
  expect({
      {"what a higher queue may take is not in the way",
       "node n1 gpu=3 cpu=9\nqueue low\nqueue high priority=10\ngang x queue=low w*2@n1:gpu=1\n"
       "gang a queue=high min=2 asks.gpu=2",
       "admit a"},
      {"but a queue that may not be taken from is",
       "node n1 gpu=3 cpu=9\nqueue low kept\nqueue high priority=10\ngang x queue=low w*2@n1:gpu=1\n"
       "gang a queue=high min=2 asks.gpu=2",
       "wait a NotAdmitted"},
      {"a higher class in one queue",
       "node n1 gpu=3 cpu=9\ngang x w*2@n1:gpu=1\ngang a class=1000 min=2 asks.gpu=2", "admit a"},
      {"which must be allowed to",
       "node n1 gpu=3 cpu=9\ngang x w*2@n1:gpu=1\ngang a class=1000 meek min=2 asks.gpu=2",
       "wait a NotAdmitted"},
      {"a job priority gives no right",
       "node n1 gpu=3 cpu=9\ngang x w*2@n1:gpu=1\ngang a priority=90 min=2 asks.gpu=2", "wait a NotAdmitted"},
      {"a queue takes its part back",
       "node n1 gpu=4 cpu=9\nqueue q\nqueue r\ngang x queue=q w*2@n1:gpu=1\ngang y queue=q w*2@n1:gpu=1\n"
       "gang a queue=r min=2 asks.gpu=2",
       "admit a"},
      {"and no more than its part",
       "node n1 gpu=4 cpu=9\nqueue q\nqueue r\ngang x queue=q w*2@n1:gpu=1\ngang y queue=q w*2@n1:gpu=1\n"
       "gang a queue=r min=3 asks.gpu=3",
       "wait a NotAdmitted"},
      {"those behind it with pods are not in the way",
       "node n1 cpu=4\nqueue low\nqueue high priority=1\ngang x firm w@n1:cpu=1\ngang b queue=low w*4:cpu=1\n"
       "gang a queue=high min=3 asks.cpu=3",
       "admit a; wait b Resources"},
      {"queues are let in by turns",
       "node n1 cpu=4\nqueue q\nqueue r\ngang a age=9 queue=q min=1 asks.cpu=2\ngang b age=8 queue=q min=1 "
       "asks.cpu=2\ngang c queue=r min=1 asks.cpu=2",
       "admit a; admit c; wait b NotAdmitted"},
      {"what is promised is not counted twice",
       "node n1 cpu=4\ngang x w*1~n1:cpu=2\ngang a w*1:cpu=3\ngang b min=1 asks.cpu=1",
       "admit b; wait a Leaving; wait x MembersMissing"},
  });
}

TEST(Schedule, AdmissionIsNotOvertakenForEver) {
  const std::string small = "\ngang s age=1 min=1 asks.cpu=1";
  const std::string before = "node n1 cpu=3\ngang x w@n1:cpu=1\ngang a min=3 asks.cpu=3 age=";
  EXPECT_EQ(summary(World(before + "299" + small).run()), "admit s; wait a NotAdmitted");
  EXPECT_EQ(World(before + "299" + small).run().wake, kNow + seconds(1));
  EXPECT_EQ(summary(World(before + "300" + small).run()), "admit a; wait s NotAdmitted");
  EXPECT_EQ(summary(World(before + "300" + "\ngang b min=3 age=301 asks.cpu=3").run()),
            "admit b; wait a NotAdmitted")
      << "one at a time";
  EXPECT_EQ(summary(World(before + "300" + "\ngang w age=301 w*3:cpu=1" + small).run()),
            "wait w Resources; wait a NotAdmitted; wait s NotAdmitted; reserve w")
      << "one that goes before it has its pods already, and is reserved for";
  World strict(before + "9" + small);
  strict.policy.backfill = false;
  EXPECT_EQ(summary(strict.run()), "wait a NotAdmitted; wait s BehindReserved");
  EXPECT_EQ(reason(World(before + "9"), "a"),
            "needs 3 cpu; of the 3 there are 1 held, and gangs before it ask for 0");
}

// It comes at once with the others of its gang: being the first of its kind is no excuse.
TEST(Schedule, PodsThatComeTogetherAreNearTogether) {
  const std::string two = "node n1 cpu=9 zone=a\nnode n2 cpu=9 zone=b\ngang y w@n2:cpu=1,app=y\n";
  EXPECT_EQ(outcome(two + "gang a p*1:cpu=2,app=x,near=x/zone r*1:cpu=1,app=x,near=y/zone"),
            "a/p-0=n2 a/r-0=n2")
      << "the larger alone would go to the first node";
  EXPECT_EQ(outcome(two + "gang a min=1 p*1:cpu=2,app=x,near=x/zone,apart=x/zone r*1:cpu=1,app=x,zone=b"),
            "a/p-0=n1 a/r-0=n2")
      << "who comes after it may go elsewhere";
}

TEST(Schedule, WakesWhenTimeChangesTheAnswer) {
  World world("node n1 cpu=1\ngang x w@n1:cpu=1\ngang a age=100 w*1:cpu=1");
  EXPECT_EQ(world.run().wake, kNow + seconds(200)) << "reserved for after five minutes";
  World timeout("node n1 cpu=1\ngang x w@n1:cpu=1\ngang a timeout=150 age=100 w*1:cpu=1");
  EXPECT_EQ(timeout.run().wake, kNow + seconds(50));
  timeout.now = kNow + seconds(50);
  Waiting late = timeout.run().waiting.at(0);
  EXPECT_TRUE(late.timed_out);
  Waiting before = late;
  before.timed_out = false;
  EXPECT_NE(kind_of(late), kind_of(before)) << "it is told at once";
  EXPECT_EQ(World("node n1 cpu=1\ngang x w@n1:cpu=1").run().wake, std::nullopt);
}

}  // namespace
}  // namespace trainyard::sched::testing
