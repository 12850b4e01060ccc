#include "engine/pods.h"

#include <fmt/format.h>

#include "engine/restart.h"

namespace trainyard::engine {

using model::Outcome;
using model::PodPhase;
using model::PodSeen;
using model::ReplicaId;
using model::WaitKind;

namespace {

// Enough of the role's replicas run and are ready, or have succeeded.
bool ready(const Pass& pass, int role) {
  const model::Role& wanted = pass.spec.roles[role];
  if (!wanted.has_min_available) return true;
  int n = 0;
  pass.each_replica_of(role, [&](ReplicaId id) {
    const PodSeen* pod = pass.present(id);
    bool up = pod != nullptr && pod->phase == PodPhase::kRunning && pod->ready && !pod->terminating;
    n += up || pass.state.outcome_of(id) == Outcome::kSucceeded;
  });
  return n >= wanted.min_available;
}

// The role that this one still waits for, or -1.
int missing_dependency(const Pass& pass, int role) {
  const model::DependsOn& depends = pass.spec.roles[role].depends_on;
  int missing = -1;
  for (int other : depends.roles) {
    bool met = ready(pass, other);
    if (met && depends.any) return -1;
    if (!met) missing = other;
  }
  return missing;
}

}  // namespace

void make_missing_pods(Pass& pass) {
  OldPods old_pods(pass);
  const PodSeen* blocker = nullptr;
  const PodSeen* leaving = nullptr;
  for (int role = 0; role < static_cast<int>(pass.spec.roles.size()); ++role) {
    int dependency = missing_dependency(pass, role);
    bool held = false;
    pass.each_replica_of(role, [&](ReplicaId id) {
      if (pass.state.outcome_of(id)) return;
      const PodSeen* occupant = pass.occupant(id);
      if (occupant != nullptr && !pass.is_old(*occupant)) {
        if (occupant->terminating) leaving = occupant;
        return;
      }
      if (const PodSeen* old = old_pods.blocker(id)) {
        blocker = old;
      } else if (dependency >= 0) {
        held = true;
      } else {
        pass.create(model::CreatePod{id, pass.state.attempt_of(id)});
      }
    });
    if (held) {
      pass.wait(WaitKind::kDependsOn,
                fmt::format("{} waits for {} to be ready (dependsOn)", pass.spec.roles[role].name,
                            pass.spec.roles[dependency].name));
    }
  }
  if (blocker != nullptr) {
    pass.wait(WaitKind::kOldPods, fmt::format("waiting for {} of attempt {} to go before starting again",
                                              blocker->name, blocker->attempt));
  }
  if (leaving != nullptr) {
    pass.wait(WaitKind::kTerminating,
              fmt::format("{} is being deleted; it is made again when it is gone", leaving->name));
  }
}

}  // namespace trainyard::engine
