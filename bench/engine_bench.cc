// The time of one plan: a steady job of a thousand replicas, its first pass, and the
// pass that answers a failure.
#include <benchmark/benchmark.h>

#include "engine/engine.h"

namespace trainyard {
namespace {

using namespace model;  // NOLINT: short names for a bench

constexpr Time kNow{1'700'000'000'000};

Observation thousand_running() {
  Observation seen;
  seen.spec.name = "train";
  seen.spec.pod_prefix = "train";
  Role ps{"ps", "PS", 100};
  Role worker{"worker", "Worker", 900};
  for (Role* role : {&ps, &worker}) {
    role->rules.push_back({{Trigger::kFailed}, {{129, 255}}, {ActionKind::kRestart, Scope::kPod}, {}});
    role->otherwise = {ActionKind::kFail};
  }
  seen.spec.roles = {ps, worker};
  seen.spec.success = MainReplica{{1, 0}, true};
  seen.spec.running_min = 1000;
  seen.state.roles.resize(2);
  for (int role = 0; role < 2; ++role) {
    for (int index = 0; index < seen.spec.roles[role].replicas; ++index) {
      PodSeen pod;
      pod.id = {role, index};
      pod.name = seen.spec.pod_name(pod.id);
      pod.uid = pod.name;
      pod.phase = PodPhase::kRunning;
      seen.services.push_back({pod.id, pod.name, pod.name});
      seen.pods.push_back(std::move(pod));
    }
  }
  seen.state = engine::plan(seen, kNow).state;
  return seen;
}

void plan_steady(benchmark::State& state) {
  Observation seen = thousand_running();
  for (auto _ : state) benchmark::DoNotOptimize(engine::plan(seen, kNow));
}
BENCHMARK(plan_steady)->Unit(benchmark::kMicrosecond);

void plan_half_succeeded(benchmark::State& state) {
  Observation seen = thousand_running();
  for (PodSeen& pod : seen.pods) {
    if (pod.id.role == 1 && pod.id.index > 450) pod.phase = PodPhase::kSucceeded;
  }
  seen.state = engine::plan(seen, kNow).state;
  for (auto _ : state) benchmark::DoNotOptimize(engine::plan(seen, kNow));
}
BENCHMARK(plan_half_succeeded)->Unit(benchmark::kMicrosecond);

void plan_first_pass(benchmark::State& state) {
  Observation seen = thousand_running();
  seen.pods.clear();
  seen.services.clear();
  seen.state = {};
  seen.state.roles.resize(2);
  for (auto _ : state) benchmark::DoNotOptimize(engine::plan(seen, kNow));
}
BENCHMARK(plan_first_pass)->Unit(benchmark::kMicrosecond);

void plan_one_failure(benchmark::State& state) {
  Observation seen = thousand_running();
  seen.pods[500].phase = PodPhase::kFailed;
  seen.pods[500].exit_code = 137;
  for (auto _ : state) benchmark::DoNotOptimize(engine::plan(seen, kNow));
}
BENCHMARK(plan_one_failure)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace trainyard
