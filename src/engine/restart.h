// Restart: takes the next attempt number and raises the floor of what it covers.
// Everything below the floor is old: its pods are deleted, its outcomes are void, and
// new pods are made when no old one of the same scope is left.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "engine/pass.h"

namespace trainyard::engine {

// Orders the restart of `scope` around `id`. Charging is the caller's business.
void restart(Pass& pass, model::ReplicaId id, model::Scope scope, const model::Cause& cause);

// Starts a new attempt of the whole job. `keep_succeeded` carries successes over.
void renew(Pass& pass, bool keep_succeeded);

// The old pods that have not gone, and what must wait for them: a job-wide restart
// waits for all of them, a role's for its own, a single replica for its own name.
class OldPods {
 public:
  explicit OldPods(const Pass& pass);
  // The pod that a new one for this replica must wait for; null when there is none.
  const model::PodSeen* blocker(model::ReplicaId id) const;

 private:
  const Pass& pass_;
  const model::PodSeen* of_job_ = nullptr;
  std::vector<const model::PodSeen*> of_role_;
  std::map<std::pair<int, int>, const model::PodSeen*> of_partition_;  // by role and partition
};

// Orders the deletion of old and extra pods.
void delete_old_pods(Pass& pass);

}  // namespace trainyard::engine
