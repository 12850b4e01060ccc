// The promises of schedule.h, on thousands of small random clusters. A failure names the seed.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "base/rng.h"
#include "sched/reference_scheduler.h"
#include "sched/testing.h"

namespace trainyard::sched::testing {
namespace {

constexpr int kWorlds = 2000;

std::string number(Rng& rng, int low, int high) { return std::to_string(rng.between(low, high)); }

std::string random_pod(Rng& rng, bool rich) {
  std::string asks = "cpu=" + number(rng, 1, 3);
  if (rng.chance(25)) asks += ",gpu=1";
  if (!rich) return asks;
  if (rng.chance(15)) asks += rng.chance(50) ? ",zone=a" : ",zone=b";
  if (rng.chance(15)) asks += ",tolerates=t";
  if (rng.chance(8)) asks += ",port=80";
  if (rng.chance(30)) asks += rng.chance(50) ? ",app=x" : ",app=y";
  if (rng.chance(8)) asks += rng.chance(50) ? ",apart=x/kubernetes.io/hostname" : ",apart=x/zone";
  if (rng.chance(6)) asks += rng.chance(50) ? ",near=x/zone" : ",near=y/zone";
  if (rng.chance(5)) asks += ",likes=y/zone";
  if (rng.chance(10)) asks += rng.chance(50) ? ",disk=n0" : ",disk=n1|n2";
  if (rng.chance(10)) asks += rng.chance(50) ? ",needs=zone~a" : ",needs=zone~c,needs=zone~b|d";
  return asks;
}

std::string random_gang(Rng& rng, int index, int nodes, bool rich, const std::vector<std::string>& queues) {
  std::string line = fmt::format("gang g{} queue={} class={} priority={} age={}", index,
                                 queues[rng.below(queues.size())], rng.chance(30) ? rng.between(1, 2) : 0,
                                 rng.between(0, 3), rng.between(0, rng.chance(10) ? 20'000 : 900));
  bool runs = rng.chance(40);
  int left = static_cast<int>(rng.between(1, 4));
  int members = left;
  for (int role = 0; left > 0; ++role) {
    int count = static_cast<int>(rng.between(1, left));
    left -= count;
    std::string pod = random_pod(rng, rich);
    if (!runs) {
      line += fmt::format(" r{}*{}:{}", role, count, pod);
      if (rng.chance(25)) line += fmt::format(" r{}.min={}", role, rng.between(0, count));
      if (rng.chance(15)) line += fmt::format(" spread=r{}", role);
      continue;
    }
    for (int i = 0; i < count; ++i) {
      std::string state = fmt::format("@n{}", rng.between(0, nodes - 1));
      if (rng.chance(5)) state = "+";
      if (rng.chance(5)) state = "";  // lost, or never bound
      line += fmt::format(" r{}{}:{}", role, state, pod);
    }
  }
  if (rng.chance(30)) line += fmt::format(" min={}", rng.between(1, members));
  if (rng.chance(10)) line += " firm";
  if (rng.chance(10)) line += " meek";
  if (rng.chance(30)) line += " was-whole broken=" + number(rng, 0, 900);
  if (rng.chance(30)) line += " runs=" + number(rng, 10, 500);
  if (rng.chance(30) && runs) line += " ends=" + number(rng, 10, 500);
  if (rich && rng.chance(10)) line += rng.chance(50) ? " same=zone" : " rather-same=zone";
  return line + "\n";
}

std::string random_world(Rng& rng, bool rich) {
  std::string text;
  int nodes = static_cast<int>(rng.between(1, 4));
  for (int n = 0; n < nodes; ++n) {
    text += fmt::format("node n{} cpu={} gpu={} zone={}", n, rng.between(1, 6),
                        rng.chance(40) ? rng.between(1, 2) : 0, rng.chance(50) ? "a" : "b");
    if (rich && rng.chance(10)) text += " taint=t";
    if (rich && rng.chance(5)) text += " cordoned";
    text += "\n";
  }
  std::vector<std::string> queues = {"default"};
  text += "queue default\n";
  for (int q = 0; q < static_cast<int>(rng.between(0, 2)); ++q) {
    queues.push_back(fmt::format("q{}", q));
    text += fmt::format("queue q{} weight={} priority={}", q, rng.between(1, 3), rng.chance(40) ? 1 : 0);
    if (rng.chance(30)) text += " cap.cpu=" + number(rng, 2, 8);
    if (rng.chance(20)) text += " guarantee.cpu=" + number(rng, 1, 3);
    if (rng.chance(10)) text += " kept";
    if (rng.chance(5)) text += " closed";
    if (rich && rng.chance(10)) text += " on=zone:a";
    text += "\n";
  }
  for (int g = 0; g < static_cast<int>(rng.between(1, 6)); ++g)
    text += random_gang(rng, g, nodes, rich, queues);
  return text;
}

const Queue& queue_of(const World& world, const Gang& gang) {
  for (const Queue& queue : world.cluster.queues) {
    if (queue.name == gang.queue) return queue;
  }
  return world.cluster.queues.front();
}

// Running gangs are put where they fit, so that a world begins sound; those that do not fit
// are taken out.
void make_sound(World& world) {
  std::vector<Gang> kept;
  for (Gang& gang : world.gangs) {
    kept.push_back(gang);
    Reference reference(world.cluster, kept);
    // Also in one domain, where it must be in one.
    if (!reference.wrong(reference.there(), true).empty() || !reference.sound_at_once(gang, {}))
      kept.pop_back();
  }
  world.gangs = std::move(kept);
}

std::map<std::string, Amounts> held_by_queue(const World& world) {
  std::map<std::string, Amounts> out;
  for (const Gang& gang : world.gangs) {
    for (const Member& member : gang.members) {
      if (member.state != MemberState::kPlaced) continue;
      add(out[gang.queue], world.cluster.classes[static_cast<size_t>(member.pod_class)].requests);
    }
  }
  return out;
}

int counted(const Gang& gang) {
  return static_cast<int>(std::count_if(gang.members.begin(), gang.members.end(), [](const Member& member) {
    return member.state == MemberState::kPlaced || member.state == MemberState::kSucceeded;
  }));
}

bool whole(const Gang& gang) {
  for (size_t role = 0; role < gang.roles.size(); ++role) {
    int there = 0;
    for (const Member& member : gang.members) {
      there += member.role == static_cast<int>(role) &&
               (member.state == MemberState::kPlaced || member.state == MemberState::kSucceeded);
    }
    if (there < gang.roles[role].min) return false;
  }
  return counted(gang) >= gang.min_member;
}

// Invariants 7 and 8: nothing bound in part, no node too full, nobody bound twice.
void check_bindings(const World& before, const World& after, const Decisions& decisions) {
  std::set<std::string> bound;
  std::set<std::string> gangs;
  for (const Binding& binding : decisions.bindings) {
    EXPECT_TRUE(bound.insert(binding.uid).second) << "bound twice: " << binding.uid;
    gangs.insert(binding.gang);
  }
  for (const Gang& gang : after.gangs) {
    EXPECT_TRUE(!gangs.contains(gang.id) || whole(gang)) << "bound in part: " << gang.id;
  }
  for (const Gang& gang : before.gangs) {
    bool starts = gangs.contains(gang.id) && counted(gang) == 0;
    EXPECT_FALSE(starts && queue_of(before, gang).closed) << "starts in a closed queue: " << gang.id;
  }
  Reference reference(after.cluster, after.gangs);
  EXPECT_EQ(reference.wrong(reference.there(), true), "");
  std::map<std::string, Amounts> held_before = held_by_queue(before);
  std::map<std::string, Amounts> held = held_by_queue(after);
  for (const Queue& queue : after.cluster.queues) {
    for (int r = 0; r < 4; ++r) {
      int64_t capacity = amount_at(queue.capacity, r);
      if (capacity <= 0 || amount_at(held[queue.name], r) <= amount_at(held_before[queue.name], r)) continue;
      EXPECT_LE(amount_at(held[queue.name], r), capacity) << "queue too full: " << queue.name;
    }
  }
}

// What is free covers what other queues are guaranteed and have not used.
void check_guarantees(const World& before, const World& after) {
  std::map<std::string, Amounts> held = held_by_queue(after);
  std::map<std::string, Amounts> held_before = held_by_queue(before);
  int64_t total = 0;
  int64_t used = 0;
  for (const Node& node : after.cluster.nodes) total += node.allocatable[kCpu];
  for (auto& [_, amounts] : held) used += amount_at(amounts, kCpu);
  for (const Queue& queue : after.cluster.queues) {
    if (amount_at(held[queue.name], kCpu) <= amount_at(held_before[queue.name], kCpu)) continue;
    int64_t kept = 0;
    for (const Queue& other : after.cluster.queues) {
      if (other.name == queue.name || other.closed) continue;
      kept += std::max<int64_t>(0, amount_at(other.guarantee, kCpu) - amount_at(held[other.name], kCpu));
    }
    EXPECT_LE(used + kept, std::max(total, used)) << "took what is guaranteed: " << queue.name;
  }
}

// Invariant 9: whole gangs, by right, and for one that then fits.
void check_evictions(const World& before, const Decisions& decisions) {
  World after = before;
  after.carry_out({.evictions = decisions.evictions, .bindings = decisions.bindings});
  std::map<std::string, std::set<std::string>> beneficiaries;
  std::set<std::string> victims;
  for (const Eviction& eviction : decisions.evictions) {
    victims.insert(eviction.gang);
    EXPECT_TRUE(std::none_of(decisions.bindings.begin(), decisions.bindings.end(), [&](const Binding& b) {
      return b.gang == eviction.gang;
    })) << "bound and evicted";
    const Gang victim = World(before).gang(eviction.gang);
    if (eviction.cause == EvictionCause::kReleased || eviction.cause == EvictionCause::kCompleted) continue;
    beneficiaries[eviction.beneficiary].insert(eviction.gang);
    const Gang taker = World(before).gang(eviction.beneficiary);
    EXPECT_TRUE(victim.preemptible && taker.may_preempt);
    const Queue& from = queue_of(before, victim);
    const Queue& to = queue_of(before, taker);
    if (eviction.cause == EvictionCause::kPreempted) {
      EXPECT_TRUE(from.name == to.name ? taker.class_priority > victim.class_priority
                                       : to.priority > from.priority && from.preemptible);
    } else {
      EXPECT_TRUE(from.name != to.name && from.preemptible);
    }
  }
  for (const std::string& id : victims) {
    for (const Member& member : after.gang(id).members) {
      EXPECT_NE(member.state, MemberState::kPlaced) << "not evicted whole: " << id;
    }
  }
  for (const auto& [id, of] : beneficiaries) {
    Reference reference(after.cluster, after.gangs);
    EXPECT_TRUE(reference.can_place(after.gang(id), queue_of(after, after.gang(id))))
        << "for nothing: " << id;
  }
}

bool bound_at(const Decisions& decisions, const std::string& id) {
  return std::any_of(decisions.bindings.begin(), decisions.bindings.end(),
                     [&](const Binding& one) { return one.gang == id; });
}

// The same input in another order.
World shuffled(const World& world, Rng& rng) {
  World out = world;
  auto order = [&](size_t size) {
    std::vector<int> at(size);
    std::iota(at.begin(), at.end(), 0);
    for (size_t i = size; i > 1; --i) std::swap(at[i - 1], at[rng.below(i)]);
    return at;
  };
  std::vector<int> nodes = order(world.cluster.nodes.size());
  std::vector<int> place(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    out.cluster.nodes[i] = world.cluster.nodes[static_cast<size_t>(nodes[i])];
    place[static_cast<size_t>(nodes[i])] = static_cast<int>(i);
  }
  std::vector<int> classes = order(world.cluster.classes.size());
  std::vector<int> class_place(classes.size());
  for (size_t i = 0; i < classes.size(); ++i) {
    out.cluster.classes[i] = world.cluster.classes[static_cast<size_t>(classes[i])];
    class_place[static_cast<size_t>(classes[i])] = static_cast<int>(i);
  }
  std::reverse(out.cluster.queues.begin(), out.cluster.queues.end());
  std::vector<int> gangs = order(world.gangs.size());
  for (size_t i = 0; i < gangs.size(); ++i) {
    out.gangs[i] = world.gangs[static_cast<size_t>(gangs[i])];
    for (Member& member : out.gangs[i].members) {
      if (member.node >= 0) member.node = place[static_cast<size_t>(member.node)];
      member.pod_class = class_place[static_cast<size_t>(member.pod_class)];
    }
  }
  return out;
}

void check_world(uint64_t seed, bool rich) {
  SCOPED_TRACE(fmt::format("seed {} {}", seed, rich ? "rich" : "plain"));
  Rng rng(seed);
  std::string text = random_world(rng, rich);
  SCOPED_TRACE(text);
  World world(text);
  make_sound(world);
  Decisions decisions = world.run();
  SCOPED_TRACE(summary(decisions));
  EXPECT_EQ(shuffled(world, rng).run(), decisions) << "the order of the input shows";

  World after = world;
  after.carry_out({.bindings = decisions.bindings});
  check_bindings(world, after, decisions);
  check_guarantees(world, after);
  check_evictions(world, decisions);

  // Carried out again and again it comes to rest.
  World settled = world;
  for (int pass = 0; pass < 30 && (!decisions.bindings.empty() || !decisions.evictions.empty()); ++pass) {
    settled.carry_out(decisions);
    decisions = settled.run();
  }
  EXPECT_TRUE(decisions.bindings.empty() && decisions.evictions.empty()) << "no rest: " << summary(decisions);
  // And then nobody who could be placed waits for room, unless it was promised to another.
  bool promised = decisions.reservation.has_value();
  for (const Waiting& one : decisions.waiting) {
    promised = promised || one.code == WaitCode::kLeaving || one.code == WaitCode::kMembersMissing;
  }
  for (const Waiting& one : decisions.waiting) {
    if (one.code != WaitCode::kResources && one.code != WaitCode::kTooLarge && one.code != WaitCode::kNoNode)
      continue;
    if (promised && one.code == WaitCode::kResources) continue;
    const Gang& gang = settled.gang(one.gang);
    Reference reference(settled.cluster, settled.gangs);
    EXPECT_FALSE(reference.can_place(gang, queue_of(settled, gang))) << "fits and waits: " << one.gang;
    if (one.kind != WaitKind::kInfeasible) continue;
    std::vector<Gang> alone;
    EXPECT_FALSE(Reference(settled.cluster, alone).can_place(gang, queue_of(settled, gang)))
        << "said to be infeasible: " << one.gang;
  }
}

TEST(ScheduleRandom, PlainWorlds) {
  for (uint64_t seed = 1; seed <= kWorlds && !::testing::Test::HasFailure(); ++seed) check_world(seed, false);
}

TEST(ScheduleRandom, RichWorlds) {
  for (uint64_t seed = 1; seed <= kWorlds && !::testing::Test::HasFailure(); ++seed) check_world(seed, true);
}

// The first in order is placed exactly when the slow scheduler finds a way.
TEST(ScheduleRandom, FeasibilityAgrees) {
  for (uint64_t seed = 1; seed <= kWorlds && !::testing::Test::HasFailure(); ++seed) {
    Rng rng(seed * 7919);
    std::string text = random_world(rng, true);
    World world(text);
    make_sound(world);
    std::erase_if(world.gangs, [](const Gang& gang) { return !whole(gang); });
    for (Gang& gang : world.gangs) gang.preemptible = false;
    std::string line = random_gang(rng, 99, 1, true, {"default"});
    World with(text + line);
    if (with.gangs.back().id != "g99" || counted(with.gangs.back()) > 0) continue;
    world.cluster.node_rules = with.cluster.node_rules;
    world.cluster.classes = with.cluster.classes;
    world.cluster.pod_terms = with.cluster.pod_terms;
    for (Queue& queue : world.cluster.queues) queue.guarantee.clear();
    Gang gang = with.gangs.back();
    Reference reference(world.cluster, world.gangs);
    bool possible = reference.can_place(gang, world.cluster.queues.front());
    world.gangs.push_back(gang);
    Decisions decisions = world.run();
    std::map<int, int> placed;
    for (const Binding& binding : decisions.bindings) {
      for (size_t i = 0; i < gang.members.size() && binding.gang == "g99"; ++i) {
        if (gang.members[i].uid == binding.uid) placed[static_cast<int>(i)] = world.node_index(binding.node);
      }
    }
    EXPECT_TRUE(reference.sound(gang, placed)) << "seed " << seed << "\n"
                                               << text << line << summary(decisions);
    EXPECT_EQ(bound_at(decisions, "g99"), possible) << "seed " << seed << "\n" << text << line;
  }
}

// What it costs that these leave: the highest class among them, then their pods, then how many they are.
using Cost = std::tuple<int64_t, int, int>;
Cost cost_of(const World& world, const std::set<std::string>& victims) {
  Cost out{INT64_MIN, 0, static_cast<int>(victims.size())};
  for (const Gang& gang : world.gangs) {
    if (!victims.contains(gang.id)) continue;
    std::get<0>(out) = std::max(std::get<0>(out), gang.class_priority);
    std::get<1>(out) += static_cast<int>(gang.members.size());
  }
  return out;
}

// The least for which there is room for the gang, by trying all.
std::optional<Cost> least_cost(const World& world, const std::string& id) {
  std::optional<Cost> best;
  const Gang taker = World(world).gang(id);
  for (unsigned some = 1; some < 1u << world.gangs.size(); ++some) {
    std::set<std::string> victims;
    std::vector<Gang> left;
    bool allowed = true;
    for (size_t g = 0; g < world.gangs.size(); ++g) {
      const Gang& gang = world.gangs[g];
      const bool goes = (some >> g & 1u) != 0;
      allowed = allowed && (!goes || (gang.preemptible && gang.class_priority < taker.class_priority));
      if (goes) victims.insert(gang.id);
      if (!goes && gang.id != id) left.push_back(gang);
    }
    if (!allowed || victims.contains(id)) continue;
    const Cost cost = cost_of(world, victims);
    if (best && *best <= cost) continue;
    if (Reference(world.cluster, left).can_place(taker, world.cluster.queues.front())) best = cost;
  }
  return best;
}

TEST(ScheduleRandom, ThoseLeaveWhoCostTheLeast) {
  int preempted = 0;
  for (uint64_t seed = 1; seed <= kWorlds && !::testing::Test::HasFailure(); ++seed) {
    Rng rng(seed * 104'729);
    std::string text = "queue default\n";
    const int nodes = static_cast<int>(rng.between(1, 4));
    for (int n = 0; n < nodes; ++n) text += fmt::format("node n{} cpu={}\n", n, rng.between(1, 6));
    for (int g = 0; g < static_cast<int>(rng.between(2, 6)); ++g) {
      text += fmt::format("gang g{} age={} class={}{}", g, rng.between(0, 900), rng.chance(30) ? 1 : 0,
                          rng.chance(5) ? " firm" : "");
      for (int i = 0; i < static_cast<int>(rng.between(1, 4)); ++i) {
        text += fmt::format(" w@n{}:cpu={}", rng.between(0, nodes - 1), rng.between(1, 2));
      }
      text += "\n";
    }
    text += fmt::format("gang taker class=2 w*{}:cpu={}\n", rng.between(1, 3), rng.between(1, 4));
    World world(text);
    make_sound(world);
    Decisions decisions = world.run();
    std::set<std::string> victims;
    for (const Eviction& one : decisions.evictions) victims.insert(one.gang);
    if (bound_at(decisions, "taker")) continue;
    std::optional<Cost> best = least_cost(world, "taker");
    ASSERT_EQ(best.has_value(), !victims.empty()) << "seed " << seed << "\n" << text << summary(decisions);
    if (!best) continue;
    ++preempted;
    EXPECT_EQ(cost_of(world, victims), *best) << "seed " << seed << "\n" << text << summary(decisions);
  }
  EXPECT_GT(preempted, kWorlds / 10);
}

// When the gang can start, if nothing else is bound: those that run end when they said, or never.
std::optional<Time> starts_at(const World& world, const std::string& id) {
  std::set<Time> ends = {world.now};
  for (const Gang& gang : world.gangs) {
    if (gang.ends_at && counted(gang) > 0) ends.insert(*gang.ends_at);
  }
  for (Time at : ends) {
    World later = world;
    std::erase_if(later.gangs, [&](const Gang& gang) {
      return gang.id == id || (counted(gang) > 0 && gang.ends_at && *gang.ends_at <= at);
    });
    const Gang gang = World(world).gang(id);
    if (Reference(later.cluster, later.gangs).can_place(gang, queue_of(world, gang))) return at;
  }
  return std::nullopt;
}

// Backfill: whoever is bound while one is reserved for does not make it start later.
TEST(ScheduleRandom, NobodyDelaysTheReserved) {
  int reserved = 0;
  int overtaken = 0;
  for (uint64_t seed = 1; seed <= 2 * kWorlds && !::testing::Test::HasFailure(); ++seed) {
    Rng rng(seed * 15'485'863);
    std::string text = "queue default\n";
    const int nodes = static_cast<int>(rng.between(1, 4));
    for (int n = 0; n < nodes; ++n) {
      text += fmt::format("node n{} cpu={} zone={}\n", n, rng.between(1, 6), rng.chance(50) ? "a" : "b");
    }
    for (int g = 0; g < static_cast<int>(rng.between(1, 4)); ++g) {
      text += fmt::format("gang r{} ends={}", g, rng.between(1, 9) * 100);
      for (int i = 0; i < static_cast<int>(rng.between(1, 2)); ++i) {
        text += fmt::format(" w@n{}:cpu={}", rng.between(0, nodes - 1), rng.between(1, 3));
      }
      text += "\n";
    }
    text += fmt::format("gang old age=900 w*{}:cpu={}{}\n", rng.between(1, 3), rng.between(1, 4),
                        rng.chance(20) ? ",zone=a" : "");
    for (int g = 0; g < static_cast<int>(rng.between(1, 4)); ++g) {
      text += fmt::format("gang b{} age={}{} w*{}:cpu={}{}\n", g, rng.between(0, 200),
                          rng.chance(60) ? fmt::format(" runs={}", rng.between(1, 9) * 100) : "",
                          rng.between(1, 2), rng.between(1, 3), rng.chance(20) ? ",zone=b" : "");
    }
    World world(text);
    make_sound(world);
    Decisions decisions = world.run();
    if (!decisions.reservation || decisions.reservation->gang != "old") continue;
    ++reserved;
    SCOPED_TRACE(fmt::format("seed {}\n{}{}", seed, text, summary(decisions)));
    std::optional<Time> before = starts_at(world, "old");
    World after = world;
    after.carry_out({.bindings = decisions.bindings});
    for (Gang& gang : after.gangs) {
      if (!bound_at(decisions, gang.id)) continue;
      ++overtaken;
      if (gang.runs_at_most) gang.ends_at = after.now + *gang.runs_at_most;
    }
    std::optional<Time> then = starts_at(after, "old");
    ASSERT_TRUE(before.has_value());
    EXPECT_TRUE(then && *then <= *before) << "it is delayed";
    EXPECT_EQ(decisions.reservation->from, *before);
  }
  EXPECT_GT(reserved, kWorlds / 10);
  EXPECT_GT(overtaken, kWorlds / 20);
}

// Invariant 16: while small gangs keep coming, the large one starts once what runs has ended.
TEST(ScheduleRandom, NobodyStarves) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    World world("node n0 cpu=4\nnode n1 cpu=4\ngang large w*8:cpu=1");
    world.gangs[0].queued_at = kNow;
    bool started = false;
    for (int minute = 0; minute < 120 && !started; ++minute) {
      world.now = kNow + std::chrono::minutes(minute);
      for (int i = 0; i < 2; ++i) {
        World more(fmt::format("gang s{}x{} priority=50 w*1:cpu={}", minute, i, rng.between(1, 3)));
        Gang small = more.gangs[0];
        small.queued_at = world.now;
        PodClass pod = more.cluster.classes[0];
        world.cluster.classes.push_back(pod);
        small.members[0].pod_class = static_cast<int>(world.cluster.classes.size()) - 1;
        world.gangs.push_back(small);
      }
      world.policy.overdue_after = std::chrono::minutes(30);
      Decisions decisions = world.run();
      started = bound_at(decisions, "large");
      world.carry_out(decisions);
      // Each that runs ends after some minutes.
      std::erase_if(world.gangs, [&](const Gang& gang) {
        return gang.id != "large" && gang.members[0].state == MemberState::kPlaced && rng.chance(25);
      });
    }
    EXPECT_TRUE(started) << "seed " << seed;
  }
}

}  // namespace
}  // namespace trainyard::sched::testing
