// What one more gang costs a scheduler that follows a cluster: the loop itself in one process with a store,
// from the first sight of a PodGroup until it rests again, beside gangs that have their nodes already.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/in_process.h"
#include "control/scheduler.h"
#include "kube/scheduling.h"

namespace {

using namespace trainyard;  // NOLINT: a program of its own

constexpr int kNodes = 1000;

class Stage {
 public:
  explicit Stage(int gangs) {
    for (int n = 0; n < kNodes; ++n) {
      make(kube::kNodes,
           {{"metadata", json::object{{"name", fmt::format("node-{}", n)}}},
            {"status", json::object{{"allocatable", json::object{{"cpu", "64"}, {"pods", "110"}}}}}});
    }
    for (int g = 0; g < gangs; ++g) {
      add_group(g);
      add_pod(g);
    }
    rest();
  }

  // As a controller does it: the pod is made when its group was let in.
  void add_gang() {
    int g = next_++;
    add_group(g);
    rest();
    add_pod(g);
    rest();
  }
  const control::SchedulerCounts& counts() const { return scheduler_.counts(); }

 private:
  void make(const kube::Resource& resource, json::object object) {
    std::string ns = resource == kube::kNodes ? "" : "ns";
    (void)store_.create(resource, ns, object, now_);
  }
  void add_group(int g) {
    next_ = std::max(next_, g + 1);
    json::object spec{{"minMember", 1}, {"minResources", json::object{{"cpu", "1"}}}};
    make(kube::kVolcanoPodGroups,
         {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
          {"kind", "PodGroup"},
          {"metadata", json::object{{"name", fmt::format("job-{}", g)}, {"namespace", "ns"}}},
          {"spec", std::move(spec)}});
  }
  void add_pod(int g) {
    std::string job = fmt::format("job-{}", g);
    json::object meta{{"name", job + "-worker-0"},
                      {"namespace", "ns"},
                      {"labels", json::object{{"volcano.sh/job-name", job}}},
                      {"annotations", json::object{{"scheduling.k8s.io/group-name", job}}}};
    json::object requests{{"cpu", "1"}};
    json::object container{{"name", "c"}, {"resources", json::object{{"requests", std::move(requests)}}}};
    make(kube::kPods, {{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata", std::move(meta)},
                       {"spec", json::object{{"containers", json::array{std::move(container)}}}}});
  }
  void carry() {
    for (const control::StreamRequest& wanted : scheduler_.requests(now_)) {
      if (const auto* watch = std::get_if<kube::Watch>(&wanted.request.verb)) {
        from_[wanted.stream] = std::stoll(watch->version);
      } else {
        scheduler_.on_list(wanted.stream, client_.send(wanted.request), now_);
      }
    }
    for (auto& [stream, version] : from_) {
      const client::Stream& what = scheduler_.streams()[static_cast<size_t>(stream)];
      const std::vector<store::WatchEvent> events = store_.events_since(what.resource, version).value();
      for (const store::WatchEvent& event : events) {
        version = event.revision;
        scheduler_.on_event(stream, client::to_watch_event(event), now_);
      }
    }
  }
  // Until there is nothing to do for a while.
  void rest() {
    while (true) {
      carry();
      if (scheduler_.step(now_)) continue;
      std::optional<Time> next = scheduler_.next_wake();
      if (!next || *next > now_ + seconds(3)) return;
      now_ = std::max(now_ + Duration{1}, *next);
    }
  }

  Time now_{1'700'000'000'000};
  store::Store store_;
  client::InProcess client_{store_, [this] { return now_; }};
  control::Scheduler scheduler_{{client_, [this] { return now_; }}};
  std::map<int, int64_t> from_;
  int next_ = 0;
};

void one_more_gang(benchmark::State& state) {
  Stage stage(static_cast<int>(state.range(0)));
  int64_t passes = stage.counts().passes;
  int64_t bound = stage.counts().bound;
  for (auto _ : state) stage.add_gang();
  bound = stage.counts().bound - bound;
  state.counters["passes/gang"] =
      static_cast<double>(stage.counts().passes - passes) / static_cast<double>(std::max<int64_t>(1, bound));
}
BENCHMARK(one_more_gang)
    ->ArgName("there")
    ->Arg(0)
    ->Arg(1000)
    ->Arg(10'000)
    ->Iterations(200)
    ->Unit(benchmark::kMillisecond);

}  // namespace
