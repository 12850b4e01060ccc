#include "cli/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "sim/run.h"
#include "sim/shrink.h"

namespace trainyard::cli {
namespace {

// Enough to keep the cores busy, few enough that progress is seen.
constexpr uint64_t kChunk = 10'000;

int one_seed(const Simulate& command, const Console& console) {
  sim::RunOptions options;
  options.seed = command.seed;
  options.trace = command.trace;
  sim::RunReport report = sim::run_seed(options);
  console.out << sim::to_string(report);
  return report.ok() ? kFine : kInputAtFault;
}

void tell_failures(const sim::ManyReport& report, const Console& console) {
  for (const sim::RunReport& failure : report.failures) console.err << sim::to_string(failure);
  if (report.failures.empty()) return;
  sim::Shrunk shrunk = sim::shrink(report.failures.front().options);
  console.err << fmt::format("\nThe first of them, made as small as it still fails ({} runs):\n", shrunk.runs)
              << sim::to_string(shrunk.report);
}

}  // namespace

int simulate(const Simulate& command, const Console& console) {
  if (command.count == 1) return one_seed(command, console);
  int threads = command.threads > 0 ? command.threads
                                    : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  uint64_t done = 0;
  double seconds_taken = 0;
  while (done < command.count) {
    uint64_t count = std::min(kChunk, command.count - done);
    sim::ManyReport report = sim::run_many(command.seed + done, count, threads);
    done += count;
    seconds_taken += report.seconds_taken;
    if (report.failed > 0) {
      tell_failures(report, console);
      console.err << fmt::format("{} of the seeds {} to {} failed\n", report.failed, report.first,
                                 report.first + report.count - 1);
      return kInputAtFault;
    }
    if (done < command.count) console.err << fmt::format("{} of {} seeds fine\n", done, command.count);
  }
  console.out << fmt::format("{} seeds from {}: all fine, {:.0f} a second\n", command.count, command.seed,
                             seconds_taken > 0 ? static_cast<double>(command.count) / seconds_taken : 0.0);
  return kFine;
}

}  // namespace trainyard::cli
