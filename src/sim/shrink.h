// Shrink: from a failing seed to the smallest set of options that still fails: faults
// are switched off, user actions, jobs, replicas and time taken away, one after another,
// for as long as the same invariant still breaks.
#pragma once

#include <functional>

#include "sim/options.h"
#include "sim/run.h"

namespace trainyard::sim {

// The smallest options, by these steps, for which `fails` holds.
// REQUIRES: fails(options).
Options shrink_options(const Options& options, const std::function<bool(const Options&)>& fails);

struct Shrunk {
  RunReport report;  // of the smallest world, with the story
  int runs = 0;
};

// REQUIRES: a run with these options breaks something: CHECKed.
Shrunk shrink(const Options& failing);

}  // namespace trainyard::sim
