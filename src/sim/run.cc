#include "sim/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "sim/world.h"

namespace trainyard::sim {

RunReport run_seed(const RunOptions& options) {
  WorldInput input;
  input.options = options.options ? *options.options : derive_options(options.seed);
  input.trace = options.trace;
  World world(input);
  world.run();
  RunReport report;
  report.options = input.options;
  report.violations = world.violations();
  report.trace = world.take_trace();
  report.revisions = world.revision();
  report.operator_writes = world.operator_writes();
  return report;
}

ManyReport run_many(uint64_t first, uint64_t count, int threads, const ManyOptions& options) {
  CHECK(threads >= 1);
  ManyReport many;
  many.first = first;
  many.count = count;
  std::atomic<uint64_t> next{0};
  std::mutex mutex;
  const auto work = [&] {
    int64_t revisions = 0;
    for (uint64_t i = next++; i < count; i = next++) {
      Options world = derive_options(first + i);
      world.faults.remove(options.without);
      RunReport report = run_seed({.seed = first + i, .options = world});
      revisions += report.revisions;
      if (report.ok()) continue;
      const std::lock_guard lock(mutex);
      ++many.failed;
      if (options.stop_at_first) next = count;
      many.failures.push_back(std::move(report));
    }
    const std::lock_guard lock(mutex);
    many.revisions += revisions;
  };
  const auto start = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> workers;
    for (int i = 1; i < threads; ++i) workers.emplace_back(work);
    work();
  }
  many.seconds_taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::sort(many.failures.begin(), many.failures.end(),
            [](const RunReport& a, const RunReport& b) { return a.options.seed < b.options.seed; });
  if (many.failures.size() > kFailuresMax) many.failures.resize(kFailuresMax);
  return many;
}

std::string to_string(const RunReport& report) {
  std::string text = to_string(report.options) + "\n";
  for (const std::string& line : report.trace) text += line + "\n";
  if (report.ok()) {
    text +=
        fmt::format("fine: {} revisions, {} writes by operators\n", report.revisions, report.operator_writes);
  }
  for (const Violation& violation : report.violations) text += "BROKEN " + to_string(violation) + "\n";
  return text;
}

}  // namespace trainyard::sim
