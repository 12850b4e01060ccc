// The hub on a real file: durable creates per second, opening a large store, how long a
// watcher waits. The folder is TRAINYARD_BENCH_DIR, else the system's temporary one: a
// folder in memory would measure nothing.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "base/fd.h"
#include "hub/hub.h"
#include "kube/access.h"

namespace trainyard::hub {
namespace {

namespace fs = std::filesystem;

constexpr int kStoredObjects = 100'000;

class Folder {
 public:
  Folder() {
    const char* wanted = ::getenv("TRAINYARD_BENCH_DIR");
    fs::path parent = wanted != nullptr ? fs::path(wanted) : fs::temp_directory_path();
    std::string name = (parent / "trainyard-bench-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

Time wall_clock() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
}

std::unique_ptr<Hub> open_hub(const fs::path& file) {
  Options options;
  options.file = file;
  options.clock = wall_clock;
  return Hub::open(std::move(options)).value();
}

// A pod as an operator makes it: about 1.2 KB of text.
json::object pod(const std::string& name) {
  json::array env;
  for (int i = 0; i < 6; ++i) {
    env.push_back(
        json::object{{"name", fmt::format("VARIABLE_{}", i)}, {"value", "some value of that variable"}});
  }
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", json::object{{"name", name},
                                    {"labels", json::object{{"training.kubeflow.org/job-name", "mnist"},
                                                            {"training.kubeflow.org/replica-type", "worker"},
                                                            {"training.kubeflow.org/replica-index", "3"}}}}},
          {"spec", json::object{{"restartPolicy", "Never"},
                                {"containers",
                                 json::array{json::object{{"name", "tensorflow"},
                                                          {"image", "tensorflow/tensorflow:2.12.0"},
                                                          {"command", json::array{"python", "/train.py"}},
                                                          {"env", env}}}}}}};
}

kube::Request create(const std::string& name) { return {kube::kPods, "default", kube::Create{pod(name)}}; }

// What one commit costs at least on this disk.
void BM_Fsync(benchmark::State& state) {
  Folder folder;
  Fd file(::open((folder.path / "file").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  const std::string page(4'096, 'x');
  for (auto _ : state) {
    CHECK(::write(file.get(), page.data(), page.size()) == static_cast<ssize_t>(page.size()));
    CHECK(::fdatasync(file.get()) == 0);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Fsync)->UseRealTime()->MinTime(1);

struct Shared {
  Folder folder;
  std::unique_ptr<Hub> hub;
  std::atomic<int64_t> names{0};
};
Shared* shared = nullptr;

template <bool kDurable>
void creates(benchmark::State& state) {
  for (auto _ : state) {
    Result<Answer> made = shared->hub->call(create(fmt::format("p-{}", ++shared->names)));
    CHECK(made.ok());
  }
  state.SetItemsProcessed(state.iterations());
}
template <bool kDurable>
void set_up(const benchmark::State&) {
  shared = new Shared;
  shared->hub = open_hub(kDurable ? shared->folder.path / "store.db" : fs::path());
}
void tear_down(const benchmark::State&) {
  shared->hub.reset();
  delete shared;
  shared = nullptr;
}
BENCHMARK(creates<true>)
    ->Name("BM_DurableCreates")
    ->Setup(set_up<true>)
    ->Teardown(tear_down)
    ->Threads(1)
    ->Threads(16)
    ->UseRealTime()
    ->MinTime(3);
BENCHMARK(creates<false>)
    ->Name("BM_CreatesInMemory")
    ->Setup(set_up<false>)
    ->Teardown(tear_down)
    ->Threads(1)
    ->Threads(16)
    ->UseRealTime();

void BM_Open(benchmark::State& state) {
  Folder folder;
  const fs::path file = folder.path / "store.db";
  {
    std::unique_ptr<Hub> hub = open_hub(file);
    for (int i = 0; i < kStoredObjects; ++i) {
      hub->submit(create(fmt::format("p-{:06}", i)), [](Result<Answer> answer) { CHECK(answer.ok()); });
    }
  }
  for (auto _ : state) {
    std::unique_ptr<Hub> hub = open_hub(file);
    CHECK(hub->revision() > kStoredObjects);
    state.PauseTiming();
    hub.reset();
    state.ResumeTiming();
  }
  state.counters["objects"] = kStoredObjects;
  state.counters["file MB"] = static_cast<double>(fs::file_size(file)) / 1e6;
}
BENCHMARK(BM_Open)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(5);

// From asking for a write until a watcher hears of it.
template <bool kDurable>
void watch_delay(benchmark::State& state) {
  Folder folder;
  std::unique_ptr<Hub> hub = open_hub(kDurable ? folder.path / "store.db" : fs::path());
  std::mutex mutex;
  std::condition_variable changed;
  int64_t told = 0;
  auto watch = hub->watch(kube::kPods, "", {},
                          {[&](const std::vector<WatchEvent>& events) {
                             std::lock_guard lock(mutex);
                             told += static_cast<int64_t>(events.size());
                             changed.notify_one();
                           },
                           [](const std::optional<Error>&) {}})
                   .value();
  int64_t asked = 0;
  for (auto _ : state) {
    hub->submit(create(fmt::format("p-{}", ++asked)), [](Result<Answer> answer) { CHECK(answer.ok()); });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return told >= asked; });
  }
}
BENCHMARK(watch_delay<true>)
    ->Name("BM_WatchDelayDurable")
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond)
    ->MinTime(2);
BENCHMARK(watch_delay<false>)->Name("BM_WatchDelayInMemory")->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace trainyard::hub
