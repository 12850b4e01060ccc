// What one more job costs an operator that follows a cluster: the loop itself in one process with a store,
// from the first sight of a Volcano Job of one pod until that runs, beside jobs that run already.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/in_process.h"
#include "control/operator.h"
#include "dialect/volcano/volcano.h"
#include "kube/scheduling.h"

namespace {

using namespace trainyard;  // NOLINT: a program of its own

class Stage {
 public:
  explicit Stage(int jobs) {
    while (next_ < jobs) add_job();
  }
  // The parts of the scheduler and of the kubelet are played.
  void add_job() {
    const std::string name = fmt::format("job-{}", next_++);
    make(name);
    rest();
    let_in();
    rest();
    run_pods();
    rest();
  }
  const control::OperatorCounts& counts() const { return operator_.counts(); }

 private:
  void make(const std::string& name) {
    json::object requests{{"cpu", "1"}};
    json::object container{
        {"name", "c"}, {"image", "tf"}, {"resources", json::object{{"requests", std::move(requests)}}}};
    json::object spec{{"containers", json::array{std::move(container)}}, {"restartPolicy", "Never"}};
    json::object task{
        {"name", "worker"}, {"replicas", 1}, {"template", json::object{{"spec", std::move(spec)}}}};
    json::object job{{"apiVersion", "batch.volcano.sh/v1alpha1"},
                     {"kind", "Job"},
                     {"metadata", json::object{{"name", name}, {"namespace", "ns"}}},
                     {"spec", json::object{{"minAvailable", 1}, {"tasks", json::array{std::move(task)}}}}};
    (void)store_.create(dialect_.resource, "ns", job, now_);
  }
  void write_status(const kube::Resource& resource, const std::string& name, json::object status) {
    kube::Patch patch{name, kube::PatchKind::kMerge, json::object{{"status", std::move(status)}},
                      resource.has_status ? kube::Part::kStatus : kube::Part::kMain};
    (void)client_.send({resource, "ns", std::move(patch)});
  }
  void let_in() {
    for (const std::string& name : fresh_[kube::kVolcanoPodGroups.plural]) {
      write_status(kube::kVolcanoPodGroups, name, {{"phase", "Inqueue"}});
    }
    fresh_[kube::kVolcanoPodGroups.plural].clear();
  }
  void run_pods() {
    for (const std::string& name : fresh_[kube::kPods.plural]) {
      write_status(kube::kPods, name, {{"phase", "Running"}});
    }
    fresh_[kube::kPods.plural].clear();
  }
  void carry() {
    for (const control::StreamRequest& wanted : operator_.requests(now_)) {
      if (const auto* watch = std::get_if<kube::Watch>(&wanted.request.verb)) {
        from_[wanted.stream] = std::stoll(watch->version);
      } else {
        operator_.on_list(wanted.stream, client_.send(wanted.request), now_);
      }
    }
    for (auto& [stream, version] : from_) {
      const client::Stream& what = operator_.streams()[static_cast<size_t>(stream)];
      const std::vector<store::WatchEvent> events = store_.events_since(what.resource, version).value();
      for (const store::WatchEvent& event : events) {
        version = event.revision;
        const client::WatchEvent told = client::to_watch_event(event);
        if (told.kind == client::EventKind::kAdded) {
          fresh_[what.resource.plural].emplace_back(kube::name_of(*told.object));
        }
        operator_.on_event(stream, told, now_);
      }
    }
  }
  void rest() {
    while (true) {
      carry();
      if (operator_.step(now_)) continue;
      std::optional<Time> next = operator_.next_wake();
      if (!next || *next > now_ + seconds(3)) return;
      now_ = std::max(now_ + Duration{1}, *next);
    }
  }

  Time now_{1'700'000'000'000};
  const dialect::Dialect dialect_ = dialect::volcano();
  store::Store store_;
  client::InProcess client_{store_, [this] { return now_; }};
  control::Operator operator_{{client_, [] { return dialect::KeyPair{}; }, [this] { return now_; }},
                              {dialect_}};
  std::map<int, int64_t> from_;
  std::map<std::string_view, std::vector<std::string>> fresh_;  // that were made, by kind
  int next_ = 0;
};

void one_more_job(benchmark::State& state) {
  Stage stage(static_cast<int>(state.range(0)));
  const int64_t passes = stage.counts().passes;
  for (auto _ : state) stage.add_job();
  state.counters["passes/job"] = static_cast<double>(stage.counts().passes - passes) /
                                 static_cast<double>(std::max<int64_t>(1, state.iterations()));
}
BENCHMARK(one_more_job)
    ->ArgName("there")
    ->Arg(0)
    ->Arg(1000)
    ->Arg(10'000)
    ->Iterations(200)
    ->Unit(benchmark::kMillisecond);

}  // namespace
