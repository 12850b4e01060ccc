// GangWorld: a cluster with too little room for everybody: queues, gangs that come, run and end,
// owners that make lost pods anew, nodes that are lost and drained, and the real scheduler in
// trouble (gang_process.h). As World, a run has two phases: trouble, with safety judged at every
// write of the scheduler's (gang_checks.h), then peace, in which every gang that can run must run
// to its end and silence must follow. A seed decides everything.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sim/agenda.h"
#include "sim/gang_checks.h"
#include "sim/gang_process.h"
#include "sim/trace.h"
#include "store/store.h"

namespace trainyard::sim {

struct GangReport {
  std::vector<GangViolation> violations;
  std::vector<std::string> trace;
  int gangs = 0;
  int deaths = 0;
  int64_t evicted = 0;
  int64_t writes = 0;  // of the scheduler

  bool ok() const { return violations.empty(); }
};

GangReport run_gangs(uint64_t seed, bool trace = false);

}  // namespace trainyard::sim
