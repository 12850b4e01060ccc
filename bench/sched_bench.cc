// The time of one scheduling decision: pods of 1 cpu in gangs of several shapes on empty nodes, and a
// backlog that does not fit.
#include <benchmark/benchmark.h>

#include "sched/schedule.h"

namespace trainyard {
namespace {

using namespace sched;  // NOLINT: short names for a bench

constexpr Time kNow{1'700'000'000'000};

struct World {
  Cluster cluster;
  std::vector<Gang> gangs;
};

// Gangs of `size` pods of 1 cpu on nodes of `cpus`.
World world_of(int nodes, int cpus, int gangs, int size) {
  World out;
  out.cluster.node_rules.emplace_back();
  out.cluster.queues.push_back({"default"});
  out.cluster.classes.push_back({{1000, int64_t{1} << 30, 1}, 0, "default"});
  for (int n = 0; n < nodes; ++n) {
    Node node;
    node.name = "node-" + std::to_string(n);
    node.allocatable = {cpus * 1000, int64_t{256} << 30, 110};
    node.labels = {{"kubernetes.io/hostname", node.name},
                   {"zone", std::string(1, static_cast<char>('a' + n % 3))}};
    out.cluster.nodes.push_back(std::move(node));
  }
  for (int g = 0; g < gangs; ++g) {
    Gang gang;
    gang.id = "default/gang-" + std::to_string(g);
    gang.ns = "default";
    gang.name = gang.id;
    gang.queue = "default";
    gang.min_member = size;
    gang.roles = {{"worker"}};
    gang.queued_at = kNow;
    for (int i = 0; i < size; ++i) {
      Member member;
      member.name = gang.id + "-" + std::to_string(i);
      member.uid = member.name;
      gang.members.push_back(std::move(member));
    }
    out.gangs.push_back(std::move(gang));
  }
  return out;
}

void place(benchmark::State& state) {
  auto nodes = static_cast<int>(state.range(0));
  auto gangs = static_cast<int>(state.range(1));
  auto size = static_cast<int>(state.range(2));
  World world = world_of(nodes, 32, gangs, size);
  Policy policy;
  size_t bound = 0;
  for (auto _ : state) {
    Decisions decisions = schedule(world.cluster, world.gangs, policy, kNow);
    bound = decisions.bindings.size();
    benchmark::DoNotOptimize(decisions);
  }
  state.counters["bound"] = static_cast<double>(bound);
  state.counters["pods/s"] =
      benchmark::Counter(static_cast<double>(bound), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(place)
    ->ArgNames({"nodes", "gangs", "size"})
    ->ArgsProduct({{1000, 5000}, {10'000}, {1}})
    ->ArgsProduct({{1000, 5000}, {500}, {8, 20}})
    ->ArgsProduct({{1000, 5000}, {20}, {500}})
    ->ArgsProduct({{1000, 5000}, {1}, {10'000}})
    ->Unit(benchmark::kMillisecond);

// How a pass grows with each of its dimensions, the others held; bench/versus-volcano/growth plots it.
void grow(benchmark::State& state) {
  auto queues = static_cast<int>(state.range(2));
  World world = world_of(static_cast<int>(state.range(0)), 32, static_cast<int>(state.range(1)), 8);
  world.cluster.queues.clear();
  for (int q = 0; q < queues; ++q) world.cluster.queues.push_back({"q" + std::to_string(q), 1 + q % 3});
  for (size_t g = 0; g < world.gangs.size(); ++g) {
    world.gangs[g].queue = "q" + std::to_string(g % static_cast<size_t>(queues));
  }
  Policy policy;
  for (auto _ : state) benchmark::DoNotOptimize(schedule(world.cluster, world.gangs, policy, kNow));
}
BENCHMARK(grow)
    ->ArgNames({"nodes", "gangs", "queues"})
    ->ArgsProduct({{500, 1000, 2000, 5000, 10'000}, {500}, {1}})
    ->ArgsProduct({{5000}, {125, 250, 1000, 2000, 4000}, {1}})
    ->ArgsProduct({{5000}, {1000}, {10, 100, 300, 1000}})
    ->Unit(benchmark::kMillisecond);

// Every gang has a class of its own, spread, one queue of a hundred.
void place_unequal(benchmark::State& state) {
  World world = world_of(static_cast<int>(state.range(0)), 32, 500, 20);
  world.cluster.classes.clear();
  world.cluster.queues.clear();
  for (int q = 0; q < 100; ++q) world.cluster.queues.push_back({"q" + std::to_string(q), 1 + q % 3});
  for (size_t g = 0; g < world.gangs.size(); ++g) {
    auto cpu = static_cast<int64_t>(500 + g);
    world.cluster.classes.push_back({{cpu, int64_t{1} << 30, 1}, 0, "default"});
    world.gangs[g].queue = "q" + std::to_string(g % 100);
    world.gangs[g].roles[0].arrangement = Arrangement::kSpread;
    for (Member& member : world.gangs[g].members) member.pod_class = static_cast<int>(g);
  }
  Policy policy;
  size_t bound = 0;
  for (auto _ : state) {
    Decisions decisions = schedule(world.cluster, world.gangs, policy, kNow);
    bound = decisions.bindings.size();
  }
  state.counters["pods/s"] =
      benchmark::Counter(static_cast<double>(bound), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(place_unequal)->ArgName("nodes")->Arg(1000)->Arg(5000)->Unit(benchmark::kMillisecond);

World full_with_backlog(int nodes, bool equal) {
  World world = world_of(nodes, 32, nodes * 2, 16);
  for (size_t g = 0; g < world.gangs.size(); ++g) {
    for (Member& member : world.gangs[g].members) {
      member.state = MemberState::kPlaced;
      member.node = static_cast<int>(g) % nodes;
    }
  }
  World waiting = world_of(0, 0, 200, 16);
  for (size_t g = 0; g < waiting.gangs.size(); ++g) {
    Gang& gang = waiting.gangs[g];
    gang.id = "default/waiting-" + std::to_string(g);
    for (Member& member : gang.members) member.uid = "w" + member.uid;
    if (!equal) {
      world.cluster.classes.push_back({{1000 + static_cast<int64_t>(g), 1, 1}, 0, "default"});
      for (Member& member : gang.members) member.pod_class = static_cast<int>(g) + 1;
    }
    world.gangs.push_back(gang);
  }
  return world;
}

// A pass over a full cluster with 200 gangs that do not fit.
void backlog(benchmark::State& state) {
  World world = full_with_backlog(static_cast<int>(state.range(0)), state.range(1) != 0);
  Policy policy;
  for (auto _ : state) benchmark::DoNotOptimize(schedule(world.cluster, world.gangs, policy, kNow));
}
BENCHMARK(backlog)
    ->ArgNames({"nodes", "equal"})
    ->ArgsProduct({{1000, 5000}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

// One gang of a higher class on a full cluster.
void preempt(benchmark::State& state) {
  World world = full_with_backlog(static_cast<int>(state.range(0)), true);
  world.gangs.back().class_priority = 10;
  Policy policy;
  for (auto _ : state) benchmark::DoNotOptimize(schedule(world.cluster, world.gangs, policy, kNow));
}
BENCHMARK(preempt)->ArgName("nodes")->Arg(1000)->Arg(5000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainyard
