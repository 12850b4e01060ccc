// A standing that is followed is one that is made anew; which gangs are open. Against the scheduler as a
// whole: control/scheduler_view_test.cc.
#include "sched/standing.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace trainyard::sched {
namespace {

Cluster small_cluster() {
  Cluster out;
  out.node_rules.emplace_back();
  out.queues = {{"a"}, {"b"}};
  out.classes.push_back({{1000, 1, 1}, 0, "ns"});
  for (const char* name : {"x", "y"}) {
    Node node;
    node.name = name;
    node.allocatable = {8000, 8, 8};
    out.nodes.push_back(node);
  }
  return out;
}

Gang gang(const std::string& id, const std::string& queue, std::vector<MemberState> states, int node = 0) {
  Gang out;
  out.id = id;
  out.queue = queue;
  out.min_member = static_cast<int>(states.size());
  out.roles = {{"worker"}};
  for (MemberState state : states) {
    Member member;
    member.uid = id + std::to_string(out.members.size());
    member.state = state;
    member.node = state == MemberState::kWaiting ? -1 : node;
    out.members.push_back(member);
  }
  return out;
}

// Empty amounts are no amounts.
bool same(Amounts a, Amounts b) {
  a.resize(3);
  b.resize(3);
  return a == b;
}

void expect_alike(const Standing& kept, const Cluster& cluster, const std::vector<Gang>& gangs) {
  const Standing fresh(cluster, gangs);
  EXPECT_EQ(kept.by_id(), fresh.by_id());
  EXPECT_EQ(kept.open(), fresh.open());
  for (int q = -1; q < 2; ++q) EXPECT_TRUE(same(kept.held_by_queue(q), fresh.held_by_queue(q))) << q;
  for (int n = 0; n < 2; ++n) {
    for (int r = 0; r < 3; ++r) EXPECT_EQ(kept.now().free(n)[r], fresh.now().free(n)[r]) << n << " " << r;
  }
  for (size_t g = 0; g < gangs.size(); ++g) {
    EXPECT_EQ(kept.find(gangs, gangs[g].id), static_cast<int>(g));
    EXPECT_EQ(kept.pods_held(static_cast<int>(g)), fresh.pods_held(static_cast<int>(g)));
    EXPECT_EQ(kept.queue_of(static_cast<int>(g)), fresh.queue_of(static_cast<int>(g)));
  }
}

TEST(Standing, OpenIsWhoAsksOrChanges) {
  using enum MemberState;
  const Cluster cluster = small_cluster();
  std::vector<Gang> gangs = {
      gang("whole", "a", {kPlaced, kSucceeded}),
      gang("waits", "a", {kWaiting}),
      gang("leaves", "a", {kPlaced, kLeaving}),
      gang("extra", "a", {kPlaced, kWaiting}),
      gang("let-in", "a", {}),
  };
  gangs[3].min_member = 1;
  gangs[4].asks_admission = true;
  const Standing standing(cluster, gangs);
  EXPECT_EQ(standing.by_id(), (std::vector<int>{3, 2, 4, 1, 0}));
  EXPECT_EQ(standing.open(), (std::vector<int>{3, 2, 4, 1}));
  EXPECT_EQ(standing.pods_held(2), 1);
  EXPECT_EQ(standing.held_by_queue(0).at(kCpu), 4000) << "who leaves still holds";
  EXPECT_EQ(standing.find(gangs, "nobody"), -1);
}

TEST(Standing, FollowedIsAsMadeAnew) {
  using enum MemberState;
  Rng rng(1);
  const Cluster cluster = small_cluster();
  std::vector<Gang> gangs;
  Standing standing(cluster, gangs);
  auto any_gang = [&](const std::string& id) {
    std::vector<MemberState> states;
    for (uint64_t left = rng.below(4); left > 0; --left) {
      states.push_back(std::vector{kWaiting, kPlaced, kPlaced, kLeaving, kSucceeded}.at(rng.below(5)));
    }
    return gang(id, std::vector<std::string>{"a", "b", "nowhere"}.at(rng.below(3)), states,
                static_cast<int>(rng.below(2)));
  };
  for (int step = 0; step < 400; ++step) {
    if (gangs.empty() || (gangs.size() < 30 && rng.chance(50))) {
      gangs.push_back(any_gang("gang-" + std::to_string(rng.below(100'000)) + "-" + std::to_string(step)));
      standing.add(gangs, static_cast<int>(gangs.size()) - 1);
    } else if (rng.chance(50)) {
      auto at = static_cast<size_t>(rng.below(gangs.size()));
      standing.remove(gangs, static_cast<int>(at));
      gangs[at] = any_gang(gangs[at].id);
      standing.add(gangs, static_cast<int>(at));
    } else {
      auto at = static_cast<size_t>(rng.below(gangs.size()));
      standing.remove(gangs, static_cast<int>(at));
      standing.move_last(gangs, static_cast<int>(at));
      if (at + 1 < gangs.size()) gangs[at] = std::move(gangs.back());
      gangs.pop_back();
    }
    expect_alike(standing, cluster, gangs);
  }
}

}  // namespace
}  // namespace trainyard::sched
