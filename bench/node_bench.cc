// How long it takes from asking a runtime to the container's first instruction, one by one
// and many at once, for plain processes and for sandboxes; and how long they take to go.
// Prints a table. Sandboxes need root; where they cannot run it says why.
//
//   node_bench [how many at once...]      default: 50 200
#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "node/files.h"
#include "node/process_runtime.h"
#include "node/sandbox_runtime.h"
#include "node/shim.h"

namespace trainyard::node {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Its first instruction writes down the time.
ContainerPlan stamping(const fs::path& data, const fs::path& stamps, int n) {
  std::string uid = fmt::format("bench-{}", n);
  ContainerPlan plan;
  plan.id = {uid, "c", 0};
  plan.argv = {"/bin/sh", "-c", fmt::format("date +%s%N > {}/{}; sleep 1000", stamps.string(), n)};
  plan.mounts = {{stamps, stamps.string(), false, std::nullopt, false}};
  plan.log_file = data / "logs" / uid;
  return plan;
}

int64_t wall_nanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// When each of them began, in nanoseconds since 1970; waits for all.
std::vector<int64_t> begun(const fs::path& stamps, int first, int count) {
  std::vector<int64_t> times;
  for (int n = first; n < first + count; ++n) {
    int64_t time = 0;
    while (!(std::ifstream(stamps / std::to_string(n)) >> time)) ::poll(nullptr, 0, 1);
    times.push_back(time);
  }
  return times;
}

bool start(Runtime& runtime, const ContainerPlan& plan) {
  Result<std::string> ip =
      runtime.prepare({plan.id.pod_uid, "ns", plan.id.pod_uid, plan.id.pod_uid, false, {}});
  if (!ip.ok()) return fmt::print("prepare: {}\n", ip.error().message), false;
  Result<Done> started = runtime.start(plan);
  if (!started.ok()) return fmt::print("start: {}\n", started.error().message), false;
  return true;
}

void destroy_all(Runtime& runtime) {
  for (const std::string& uid : runtime.pods()) {
    Result<Done> gone = runtime.destroy(uid);
    if (!gone.ok()) fmt::print("destroy: {}\n", gone.error().message);
  }
}

void one_by_one(Runtime& runtime, const fs::path& data, const fs::path& stamps) {
  constexpr int kRounds = 15;
  std::vector<double> taken;
  for (int n = 0; n < kRounds; ++n) {
    int64_t asked = wall_nanos();
    if (!start(runtime, stamping(data, stamps, n))) return;
    taken.push_back(static_cast<double>(begun(stamps, n, 1)[0] - asked) / 1e6);
  }
  std::sort(taken.begin(), taken.end());
  fmt::print("{:8}  one by one   first instruction after {:.0f} ms (median), {:.0f} ms (worst of {})\n",
             runtime.name(), taken[kRounds / 2], taken.back(), kRounds);
  destroy_all(runtime);
}

void at_once(Runtime& runtime, const fs::path& data, const fs::path& stamps, int count) {
  constexpr int kFirst = 1000;
  fs::remove_all(stamps);
  fs::create_directories(stamps);
  int64_t asked = wall_nanos();
  Clock::time_point begin = Clock::now();
  for (int n = kFirst; n < kFirst + count; ++n) {
    if (!start(runtime, stamping(data, stamps, n))) return;
  }
  double asking = ms_since(begin);
  std::vector<int64_t> times = begun(stamps, kFirst, count);
  double last = static_cast<double>(*std::max_element(times.begin(), times.end()) - asked) / 1e6;
  begin = Clock::now();
  destroy_all(runtime);
  fmt::print("{:8}  {:4} at once  asked in {:.0f} ms, all began within {:.0f} ms, all gone in {:.0f} ms\n",
             runtime.name(), count, asking, last, ms_since(begin));
}

void measure(Runtime& runtime, const fs::path& data, const std::vector<int>& counts) {
  fs::path stamps = data / "stamps";
  fs::create_directories(stamps);
  one_by_one(runtime, data, stamps);
  for (int count : counts) at_once(runtime, data, stamps, count);
}

void run(const std::vector<int>& counts, const fs::path& data) {
  std::vector<std::string> shim = {fs::read_symlink("/proc/self/exe"), "shim"};
  {
    ProcessRuntime runtime({data / "process", shim, {{"PATH", "/usr/bin:/bin"}}});
    measure(runtime, data / "process", counts);
  }
  Clock::time_point begin = Clock::now();
  Result<SandboxSupport> support = sandbox_support(data / "sandbox");
  if (!support.ok()) {
    fmt::print("sandbox   cannot run here: {}\n", support.error().message);
    return;
  }
  double looked = ms_since(begin);
  begin = Clock::now();
  Result<std::unique_ptr<SandboxRuntime>> runtime =
      SandboxRuntime::open({data / "sandbox", shim, *support, find_gpus(0), false});
  if (!runtime.ok()) {
    fmt::print("sandbox   cannot run here: {}\n", runtime.error().message);
    return;
  }
  fmt::print("sandbox   with {}: looked for support in {:.0f} ms, opened in {:.0f} ms\n",
             support->runtime.string(), looked, ms_since(begin));
  measure(*runtime.value(), data / "sandbox", counts);
}

}  // namespace
}  // namespace trainyard::node

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "shim") return trainyard::node::shim_main(argv[2]);
  std::vector<int> counts;
  for (int i = 1; i < argc; ++i) counts.push_back(std::atoi(argv[i]));
  if (counts.empty()) counts = {50, 200};
  std::string folder = (std::filesystem::temp_directory_path() / "trainyard-bench-XXXXXX").native();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  trainyard::node::run(counts, folder);
  std::filesystem::remove_all(folder);
}
