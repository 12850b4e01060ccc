// Transition: what a state write meant, counted, for the metrics: read off by comparing
// the state before with the state after, never kept by whoever decides. Value; pure.
#pragma once

#include "model/job_state.h"

namespace trainyard::control {

struct Transition {
  int created = 0;
  int running = 0;
  int succeeded = 0;
  int failed = 0;
  int terminated = 0;
  int restarted = 0;  // replicas or jobs, as charged
  int disrupted = 0;

  Transition& operator+=(const Transition& other);
  bool operator==(const Transition&) const = default;
};

Transition transition_between(const model::JobState& before, const model::JobState& after);

}  // namespace trainyard::control
