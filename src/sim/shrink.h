// Shrink: from a failing seed to the smallest set of options that still fails: faults
// are switched off, user actions, jobs, replicas and time taken away, one after another,
// for as long as some invariant still breaks (the same one, by its number).
#pragma once

#include "sim/options.h"
#include "sim/run.h"

namespace trainyard::sim {

struct Shrunk {
  Options options;
  RunReport report;  // with the story
  int runs = 0;
};

// REQUIRES: the options fail: CHECKed.
Shrunk shrink(const Options& failing);

}  // namespace trainyard::sim
