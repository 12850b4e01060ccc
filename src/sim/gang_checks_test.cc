// Checkers that never speak prove nothing: each is shown a crowded history in which its
// invariant is broken, and one in which it is not.
#include "sim/gang_checks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/access.h"
#include "sim/run.h"
#include "sim/world.h"

namespace trainyard::sim {
namespace {

constexpr Author kAdministration{Hand::kUser, -1};
constexpr Author kBinder{Hand::kScheduler, 0};

class GangChecksTest : public ::testing::Test {
 protected:
  GangChecksTest() {
    cluster_.listen([this](const Change& change) { checks_.on_change(change); });
    checks_.settle(agenda_.now());
  }

  void make_node(std::string_view name, int cpus) {
    cluster_.create(kAdministration, kube::kNodes, {{"metadata", json::object{{"name", kube::jview(name)}}}});
    cluster_.write_status(kAdministration, kube::kNodes, name,
                          {{"allocatable", json::object{{"cpu", std::to_string(cpus)}}}});
  }
  void make_queue(std::string_view name, int priority, std::string_view state = "Open") {
    cluster_.create(kAdministration, kube::kVolcanoQueues,
                    {{"metadata", json::object{{"name", kube::jview(name)}}},
                     {"spec", json::object{{"priority", priority}}}});
    cluster_.write_status(kAdministration, kube::kVolcanoQueues, name, {{"state", kube::jview(state)}});
  }
  void make_gang(std::string_view name, int members, std::string_view queue = "default",
                 std::string_view priority = "", int host_port = 0) {
    json::object spec{{"minMember", members}, {"queue", kube::jview(queue)}};
    if (!priority.empty()) spec["priorityClassName"] = kube::jview(priority);
    cluster_.create(kAdministration, kube::kVolcanoPodGroups,
                    {{"metadata", json::object{{"name", kube::jview(name)}}}, {"spec", std::move(spec)}});
    make_members(name, members, host_port);
  }
  void make_members(std::string_view name, int members, int host_port = 0) {
    for (int i = 0; i < members; ++i) {
      json::object container{{"name", "c"},
                             {"resources", json::object{{"requests", json::object{{"cpu", "1"}}}}}};
      if (host_port > 0) container["ports"] = json::array{json::object{{"hostPort", host_port}}};
      json::object metadata{
          {"name", fmt::format("{}-{}", name, i)},
          {"annotations", json::object{{"scheduling.k8s.io/group-name", kube::jview(name)}}}};
      cluster_.create(kAdministration, kube::kPods,
                      {{"metadata", std::move(metadata)},
                       {"spec", json::object{{"containers", json::array{std::move(container)}}}}});
    }
  }
  // "a" of two fills the only node when "b" comes, which goes before it.
  void let_b_come_before_a(int members_of_b) {
    make_node("n", 2);
    make_gang("a", 2);
    begin();
    bind("a-0", "n");
    bind("a-1", "n");
    make_gang("b", members_of_b, "default", "high");
    begin();
  }
  void bind(std::string_view name, std::string_view node, Author binder = kBinder) {
    json::object pod = *cluster_.find(kube::kPods, name);
    kube::ensure_object(pod, {"spec"})["nodeName"] = kube::jview(node);
    cluster_.update(binder, kube::kPods, std::move(pod));
  }
  void end(std::string_view name, std::string_view phase) {
    cluster_.write_status(kAdministration, kube::kPods, name, {{"phase", kube::jview(phase)}});
  }
  void make_lease(std::string_view holder) {
    cluster_.create(kBinder, kube::kLeases,
                    {{"metadata", json::object{{"name", kube::jview(holder)}}},
                     {"spec", json::object{{"holderIdentity", kube::jview(holder)}}}});
  }
  void evict(std::string_view name) {
    checks_.evicts(0, std::string(kube::uid_of(*cluster_.find(kube::kPods, name))));
    cluster_.remove(kBinder, kube::kPods, name, {.grace_seconds = 30});
  }
  void collect(std::string_view name) {
    cluster_.remove(kAdministration, kube::kPods, name, {.grace_seconds = 0});
  }
  void begin() { checks_.pass_begins(0, cluster_.store().revision()); }
  void wait_and_look() {
    checks_.look(agenda_.now());
    agenda_.pass_to(agenda_.now() + seconds(150));
    checks_.look(agenda_.now());
  }

  Agenda agenda_{Time{1'800'000'000'000}};
  Cluster cluster_{1, agenda_};
  std::string broken_;  // the first
  GangChecks checks_{[this](int, std::string_view checker, const std::string&) {
                       if (broken_.empty()) broken_ = checker;
                     },
                     false};
};

TEST_F(GangChecksTest, AWholeGangBreaksNothing) {
  make_node("n", 2);
  make_gang("a", 2);
  begin();
  bind("a-0", "n");
  bind("a-1", "n");
  checks_.pass_ends(0, true, true);
  wait_and_look();
  EXPECT_EQ(broken_, "");
}

TEST_F(GangChecksTest, MoreThanANodeHas) {
  make_node("n", 1);
  make_gang("a", 2);
  begin();
  bind("a-0", "n");
  bind("a-1", "n");
  EXPECT_EQ(broken_, "room");
}

TEST_F(GangChecksTest, TwoWithOnePortOfANode) {
  make_node("n", 3);
  make_node("m", 3);
  make_gang("a", 3, "default", "", 7000);
  begin();
  bind("a-0", "n");
  bind("a-1", "m");
  EXPECT_EQ(broken_, "");
  bind("a-2", "n");
  EXPECT_EQ(broken_, "host-ports");
}

TEST_F(GangChecksTest, WhoLostTheLeaseMayBeLateAndDoesNotAsk) {
  make_node("n", 1);
  make_gang("a", 1);
  make_gang("b", 1);
  make_gang("c", 1);
  make_lease("scheduler-0");
  checks_.asks(0, {kube::kPods, "default", kube::Delete{"a-0", {}}});
  begin();
  bind("a-0", "n");
  make_lease("scheduler-1");
  bind("b-0", "n");
  EXPECT_EQ(broken_, "") << "it was asked for in time";
  checks_.pass_begins(1, cluster_.store().revision());
  bind("c-0", "n", {Hand::kScheduler, 1});
  EXPECT_EQ(broken_, "room") << "the other has seen it";
  broken_.clear();
  checks_.asks(0, {kube::kPods, "default", kube::Delete{"a-0", {}}});
  EXPECT_EQ(broken_, "fence");
}

TEST_F(GangChecksTest, APodThatMoves) {
  make_node("n", 1);
  make_gang("a", 1);
  begin();
  bind("a-0", "n");
  bind("a-0", "m");
  EXPECT_EQ(broken_, "bind-once");
}

TEST_F(GangChecksTest, ANodeThatIsGone) {
  make_node("n", 1);
  make_gang("a", 1);
  begin();
  cluster_.remove(kAdministration, kube::kNodes, "n");
  bind("a-0", "n");
  EXPECT_EQ(broken_, "") << "nobody had told";
  make_gang("b", 1);
  begin();
  bind("b-0", "n");
  EXPECT_EQ(broken_, "node-is-there");
}

TEST_F(GangChecksTest, AClosedQueue) {
  make_node("n", 4);
  make_queue("q", 0, "Closed");
  make_gang("a", 1, "q");
  begin();
  bind("a-0", "n");
  EXPECT_EQ(broken_, "closed-queue");
}

// It holds no node any more, and the queue was closed meanwhile.
TEST_F(GangChecksTest, WhoseMemberHasSucceededHasBegun) {
  make_node("n", 4);
  make_queue("q", 0);
  make_gang("a", 2, "q");
  begin();
  bind("a-0", "n");
  end("a-0", "Succeeded");
  cluster_.write_status(kAdministration, kube::kVolcanoQueues, "q", {{"state", "Closed"}});
  begin();
  bind("a-1", "n");
  EXPECT_EQ(broken_, "");
  make_gang("b", 2, "q");
  end("b-0", "Failed");
  begin();
  bind("b-1", "n");
  EXPECT_EQ(broken_, "closed-queue");
}

TEST_F(GangChecksTest, LetIntoAClosedQueue) {
  make_queue("q", 0, "Closed");
  make_gang("a", 0, "q");
  begin();
  json::object group = *cluster_.find(kube::kVolcanoPodGroups, "a");
  group["status"] = json::object{{"phase", "Inqueue"}};
  cluster_.update(kBinder, kube::kVolcanoPodGroups, std::move(group));
  EXPECT_EQ(broken_, "closed-queue");
}

TEST_F(GangChecksTest, AQueueThatMayHoldLess) {
  make_node("n", 3);
  make_queue("q", 0);
  make_gang("a", 2, "q");
  begin();
  bind("a-0", "n");
  bind("a-1", "n");
  json::object queue = *cluster_.find(kube::kVolcanoQueues, "q");
  kube::ensure_object(queue, {"spec"})["capability"] = json::object{{"cpu", "1"}};
  cluster_.update(kAdministration, kube::kVolcanoQueues, std::move(queue));
  EXPECT_EQ(broken_, "") << "what runs goes on";
  make_gang("b", 1, "q");
  begin();
  bind("b-0", "n");
  EXPECT_EQ(broken_, "queue-capacity");
}

TEST_F(GangChecksTest, PartOfAGang) {
  make_node("n", 2);
  make_gang("a", 3);
  begin();
  bind("a-0", "n");
  checks_.pass_ends(0, false, true);
  EXPECT_EQ(broken_, "") << "something failed on the way";
  begin();
  bind("a-1", "n");
  checks_.pass_ends(0, true, true);
  EXPECT_EQ(broken_, "whole-or-none");
}

// Who let it start knew of one pod.
TEST_F(GangChecksTest, AGangThatGrewWhileItWasBound) {
  make_node("n", 1);
  make_gang("a", 1);
  begin();
  json::object group = *cluster_.find(kube::kVolcanoPodGroups, "a");
  kube::ensure_object(group, {"spec"})["minMember"] = 2;
  cluster_.update(kAdministration, kube::kVolcanoPodGroups, std::move(group));
  bind("a-0", "n");
  wait_and_look();
  EXPECT_EQ(broken_, "");
}

TEST_F(GangChecksTest, PartOfAGangForLong) {
  make_node("n", 2);
  make_gang("a", 3);
  begin();
  bind("a-0", "n");
  wait_and_look();
  EXPECT_EQ(broken_, "hold-and-wait");
}

TEST_F(GangChecksTest, EvictedForNobody) {
  make_node("n", 1);
  make_gang("a", 1);
  begin();
  bind("a-0", "n");
  make_gang("b", 1);
  begin();
  evict("a-0");
  EXPECT_EQ(broken_, "right-to-evict");
}

TEST_F(GangChecksTest, EvictedForOneThatComesBefore) {
  let_b_come_before_a(2);
  evict("a-0");
  evict("a-1");
  checks_.pass_ends(0, true, true);
  EXPECT_EQ(broken_, "");
}

// Of one that left whole and came back, what has ended well may be cleared away.
TEST_F(GangChecksTest, EvictedOnceAndBack) {
  let_b_come_before_a(1);
  evict("a-0");
  evict("a-1");
  checks_.pass_ends(0, true, true);
  collect("a-0");
  collect("a-1");
  collect("b-0");
  make_members("a", 2);
  begin();
  bind("a-0", "n");
  bind("a-1", "n");
  checks_.pass_ends(0, true, true);
  end("a-0", "Succeeded");
  collect("a-0");
  begin();
  checks_.pass_ends(0, true, true);
  wait_and_look();
  EXPECT_EQ(broken_, "");
}

TEST_F(GangChecksTest, EvictedInPart) {
  let_b_come_before_a(1);
  evict("a-0");
  checks_.pass_ends(0, true, true);
  EXPECT_EQ(broken_, "evicted-whole");
}

TEST_F(GangChecksTest, EvictedInPartByOneThatDied) {
  let_b_come_before_a(1);
  evict("a-0");
  checks_.pass_ends(0, false, true);
  EXPECT_EQ(broken_, "") << "it died on the way";
  begin();
  checks_.pass_ends(0, true, false);
  EXPECT_EQ(broken_, "") << "the next has not decided yet";
  begin();
  checks_.pass_ends(0, true, true);
  EXPECT_EQ(broken_, "evicted-whole");
}

TEST_F(GangChecksTest, EvictedForOneThatDoesNotFit) {
  make_node("n", 1);
  make_queue("first", 1);
  make_gang("a", 1);
  begin();
  bind("a-0", "n");
  make_gang("b", 2, "first");
  begin();
  evict("a-0");
  checks_.pass_ends(0, true, true);
  EXPECT_EQ(broken_, "evicted-for-use");
}

TEST_F(GangChecksTest, RoomThatNobodyGets) {
  make_node("n", 2);
  make_gang("a", 2);
  wait_and_look();
  EXPECT_EQ(broken_, "could-start");
}

TEST_F(GangChecksTest, NoRoomIsNoFault) {
  make_node("n", 2);
  make_gang("a", 3);
  wait_and_look();
  EXPECT_EQ(broken_, "");
}

// The crowded worlds are as bad as they are meant to be.
TEST(CrowdedWorlds, ThereIsTrouble) {
  int crowded = 0;
  int deaths = 0;
  int64_t evicted = 0;
  for (uint64_t seed = 1; crowded < 60; ++seed) {
    const Options options = derive_options(seed);
    if (!options.crowded) continue;
    ++crowded;
    World world({.options = options});
    world.run();
    EXPECT_TRUE(world.violations().empty()) << seed;
    deaths += world.scheduler_deaths();
    evicted += world.pods_evicted();
  }
  EXPECT_GT(deaths, 5);
  EXPECT_GT(evicted, 5);
}

// One scheduler takes over from another, which then goes on as if nothing had happened.
TEST(CrowdedWorlds, SchedulersTakeOverFromOneAnother) {
  int worlds = 0;
  int64_t take_overs = 0;
  for (uint64_t seed = 1; worlds < 40; ++seed) {
    const Options options = derive_options(seed);
    if (!options.faults.has(Fault::kRivalScheduler)) continue;
    ++worlds;
    World world({.options = options});
    world.run();
    EXPECT_TRUE(world.violations().empty()) << seed;
    take_overs += world.lease_transitions();
  }
  EXPECT_GT(take_overs, 10);
}

}  // namespace
}  // namespace trainyard::sim
