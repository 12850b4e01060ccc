// How many replicas of each role are in which state, for the counts that every status
// shows. Pure. A replica counts once: by its recorded outcome, else by its pod of the
// present attempt; pods of older attempts count as `old` and nothing else, and those that
// are gone for nothing: had their end counted, it would be recorded.
#pragma once

#include <vector>

#include "model/observation.h"

namespace trainyard::dialect {

struct RoleCounts {
  int pending = 0;      // its pod has not started
  int running = 0;      // its pod runs and nobody has asked it to stop
  int terminating = 0;  // its pod was asked to stop and has not ended
  int succeeded = 0;
  int failed = 0;
  int unknown = 0;  // the node that has its pod does not answer
  int missing = 0;  // it has no pod, and no outcome
  int old = 0;      // pods of earlier attempts, and of replicas beyond the role's count

  bool operator==(const RoleCounts&) const = default;
};

// One entry per role of the spec. `state` is the state after the pass.
std::vector<RoleCounts> count_replicas(const model::Observation& seen, const model::JobState& state);

}  // namespace trainyard::dialect
