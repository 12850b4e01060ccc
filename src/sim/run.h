// Run: simulating seeds. A seed decides everything; the same seed gives the same report
// on every machine. Worlds share nothing, so many run at once on threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/checkers.h"
#include "sim/options.h"

namespace trainyard::sim {

struct RunOptions {
  uint64_t seed = 0;
  bool trace = false;
  std::optional<Options> options;  // instead of those that the seed gives
};

struct RunReport {
  Options options;
  std::vector<Violation> violations;  // the first one ends the run
  std::vector<std::string> trace;     // when asked for
  int64_t revisions = 0;              // writes of everybody
  int operator_writes = 0;

  bool ok() const { return violations.empty(); }
};

RunReport run_seed(const RunOptions& options);

struct ManyReport {
  uint64_t first = 0;
  uint64_t count = 0;
  std::vector<RunReport> failures;  // by seed, at most kFailuresMax
  uint64_t failed = 0;
  int64_t revisions = 0;
  double seconds_taken = 0;
};

inline constexpr size_t kFailuresMax = 20;

// What run_many leaves out of every world, and when it stops.
struct ManyOptions {
  FaultSet without;
  bool stop_at_first = false;  // once a seed has failed, no more are begun
};

// Seeds first .. first+count-1. REQUIRES: threads >= 1.
ManyReport run_many(uint64_t first, uint64_t count, int threads, const ManyOptions& options = {});

// For a person: the options, what was broken, and the story if there is one.
std::string to_string(const RunReport& report);

}  // namespace trainyard::sim
