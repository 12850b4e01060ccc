// What one more gang costs a scheduler that follows a cluster: the loop itself in one process with a store,
// from the first sight of a PodGroup until it rests again, beside gangs that have their nodes already. And
// what it keeps of each of those, of documents as a client over HTTP reads them.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/document_arena.h"
#include "client/in_process.h"
#include "control/scheduler.h"
#include "kube/parse_into.h"
#include "kube/scheduling.h"

namespace {

using namespace trainyard;  // NOLINT: a program of its own

constexpr int kNodes = 1000;

class Stage {
 public:
  // `waits`: one gang more, for which no node is large enough.
  explicit Stage(int gangs, bool waits = false) {
    for (int n = 0; n < kNodes; ++n) {
      make(kube::kNodes,
           {{"metadata", json::object{{"name", fmt::format("node-{}", n)}}},
            {"status", json::object{{"allocatable", json::object{{"cpu", "64"}, {"pods", "110"}}}}}});
    }
    for (int g = 0; g < gangs; ++g) {
      add_group(g);
      add_pod(g);
    }
    if (waits) {
      add_group(gangs);
      add_pod(gangs, "100");
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
  void add_pod(int g, const char* cpu = "1") {
    std::string job = fmt::format("job-{}", g);
    json::object meta{{"name", job + "-worker-0"},
                      {"namespace", "ns"},
                      {"labels", json::object{{"volcano.sh/job-name", job}}},
                      {"annotations", json::object{{"scheduling.k8s.io/group-name", job}}}};
    json::object requests{{"cpu", cpu}};
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
  Stage stage(static_cast<int>(state.range(0)), state.range(1) != 0);
  int64_t passes = stage.counts().passes;
  int64_t bound = stage.counts().bound;
  for (auto _ : state) stage.add_gang();
  bound = stage.counts().bound - bound;
  state.counters["passes/gang"] =
      static_cast<double>(stage.counts().passes - passes) / static_cast<double>(std::max<int64_t>(1, bound));
}
BENCHMARK(one_more_gang)
    ->ArgNames({"there", "waits"})
    ->ArgsProduct({{0, 1000, 10'000}, {0, 1}})
    ->Iterations(200)
    ->Unit(benchmark::kMillisecond);

// Answers nothing: who needs nothing written does not ask.
class Nobody final : public client::Client {
 public:
  Result<client::Reply> send(kube::Request) override { return Error{ErrorKind::kForbidden, "nobody"}; }
};

constexpr std::string_view kGroupText =
    R"({{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {{"name":
"job-{0}-7c9f2a1e", "namespace": "training", "uid": "6f1c7a52-0000-4000-8000-{0:012}",
"resourceVersion": "{1}",
"creationTimestamp": "2023-11-14T22:13:20Z", "generation": 3, "ownerReferences": [{{"apiVersion":
"batch.volcano.sh/v1alpha1", "kind": "Job", "name": "job-{0}", "uid": "7c9f2a1e-0000-4000-8000-{0:012}",
"controller": true, "blockOwnerDeletion": true}}]}}, "spec": {{"minMember": 1, "minTaskMember": {{"worker": 1}},
"minResources": {{"cpu": "1", "memory": "1Gi", "count/pods": "1", "pods": "1"}}, "queue": "default"}},
"status": {{"phase": "Running", "running": 1, "conditions": [{{"type": "Scheduled", "status": "True",
"transitionID":
"25e49ac4-4995-8f73-8000-{0:012}", "lastTransitionTime": "2023-11-14T22:13:21Z",
"reason": "tasks in gang are ready to be scheduled", "message": ""}}]}}}})";
constexpr std::string_view kPodText =
    R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "job-{0}-worker-0",
"namespace": "training", "uid": "8d3e5b63-0000-4000-8000-{0:012}", "resourceVersion": "{1}",
"creationTimestamp": "2023-11-14T22:13:20Z",
"labels": {{"volcano.sh/job-name": "job-{0}", "volcano.sh/job-namespace": "training",
"volcano.sh/queue-name": "default", "volcano.sh/task-spec": "worker", "volcano.sh/task-index": "0"}},
"annotations": {{"scheduling.k8s.io/group-name": "job-{0}-7c9f2a1e", "volcano.sh/task-spec": "worker"}}}},
"spec": {{"schedulerName": "trainyard", "nodeName": "node-0", "containers": [{{"name": "worker",
"image": "tensorflow",
"resources": {{"requests": {{"cpu": "1", "memory": "1Gi"}}}}}}]}}, "status": {{"phase": "Running"}}}})";

// Of each group and its pod, in bytes of the heap.
void kept_of_a_gang(benchmark::State& state) {
  Time now{1'700'000'000'000};
  const int gangs = static_cast<int>(state.range(0));
  for (auto _ : state) {
    Nobody client;
    control::Scheduler scheduler({client, [&] { return now; }});
    int version = 0;
    const size_t before = mallinfo2().uordblks;
    for (size_t i = 0; i < scheduler.streams().size(); ++i) {
      const kube::Resource& resource = scheduler.streams()[i].resource;
      client::Reply reply;
      const bool groups = resource == kube::kVolcanoPodGroups;
      for (int g = 0; g < gangs && (groups || resource == kube::kPods); ++g) {
        std::string text = fmt::format(fmt::runtime(groups ? kGroupText : kPodText), g, ++version);
        client::DocumentArena arena(2 * text.size());
        json::value read = kube::parse_json_into(client::DocumentArena::storage(), text).value();
        reply.items.push_back(arena.whole(std::move(read.as_object())));
      }
      reply.revision = ++version;
      (void)scheduler.requests(now);
      scheduler.on_list(static_cast<int>(i), std::move(reply), now);
    }
    while (scheduler.step(now)) {
    }
    const size_t after = mallinfo2().uordblks;
    state.counters["bytes/gang"] = static_cast<double>(after - before) / gangs;
    state.counters["passes"] = static_cast<double>(scheduler.counts().passes);
  }
}
BENCHMARK(kept_of_a_gang)->ArgName("gangs")->Arg(10'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
