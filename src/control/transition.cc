#include "control/transition.h"

namespace trainyard::control {

using model::JobState;
using model::Phase;
using model::ResultKind;

Transition& Transition::operator+=(const Transition& other) {
  created += other.created;
  running += other.running;
  succeeded += other.succeeded;
  failed += other.failed;
  terminated += other.terminated;
  restarted += other.restarted;
  disrupted += other.disrupted;
  return *this;
}

Transition transition_between(const JobState& before, const JobState& after) {
  Transition counts;
  counts.created = before.phase == Phase::kNew && after.phase != Phase::kNew;
  counts.running = before.phase != Phase::kRunning && after.phase == Phase::kRunning;
  counts.restarted = after.restarts - before.restarts;
  counts.disrupted = after.disruptions - before.disruptions;
  if (before.result || !after.result) return counts;
  switch (*after.result) {
    case ResultKind::kSucceeded:
      counts.succeeded = 1;
      break;
    case ResultKind::kFailed:
      counts.failed = 1;
      break;
    case ResultKind::kTerminated:
      counts.terminated = 1;
      break;
  }
  return counts;
}

}  // namespace trainyard::control
