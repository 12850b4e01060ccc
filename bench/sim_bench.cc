// Whole worlds per second on one core: everything from boot through trouble, rest and
// silence, as `make test` runs them; and one small world for comparison.
#include <benchmark/benchmark.h>

#include "sim/explore.h"
#include "sim/heap_operators.h"
#include "sim/run.h"
#include "sim/world.h"

namespace {

using namespace trainyard;  // NOLINT: a program of its own

// items per second: seeds per second.
void BM_Seeds(benchmark::State& state) {
  uint64_t seed = 1;
  int64_t revisions = 0;
  for (auto _ : state) revisions += sim::run_seed({.seed = seed++}).revisions;
  state.SetItemsProcessed(state.iterations());
  state.counters["revisions/seed"] =
      benchmark::Counter(static_cast<double>(revisions), benchmark::Counter::kAvgIterations);
}
BENCHMARK(BM_Seeds)->Unit(benchmark::kMillisecond)->Iterations(3000);

// One job of two workers from creation to rest, nothing goes wrong.
void BM_HealthyWorld(benchmark::State& state) {
  const sim::Script script = sim::parse_script("tfjob train worker=2\n20 exit worker-0 0\n");
  for (auto _ : state) {
    sim::WorldInput input;
    input.script = &script;
    sim::World world(input);
    world.run();
    benchmark::DoNotOptimize(world.revision());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_HealthyWorld)->Unit(benchmark::kMicrosecond);

}  // namespace
