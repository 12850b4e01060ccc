#include "engine/budget.h"

#include <algorithm>

#include "engine/finish.h"

namespace trainyard::engine {

using model::PodSeen;
using model::ReplicaId;

bool may_restart(const Pass& pass) {
  return !pass.spec.budget.restarts_max || pass.state.restarts < *pass.spec.budget.restarts_max;
}

void charge(Pass& pass, ReplicaId id, int restarts) {
  pass.state.restarts += restarts;
  pass.state.roles[id.role].restarts += restarts;
}

namespace {

// Restarts of the replica's present pod that were not charged yet; marks them charged.
int take_uncounted(Pass& pass, ReplicaId id) {
  const PodSeen* pod = pass.present(id);
  if (pod == nullptr || pod->restarts == 0) return 0;
  const model::ReplicaRecord* known = pass.state.find(id);
  int counted = known != nullptr && known->counted_uid == pod->uid ? known->counted : 0;
  if (pod->restarts <= counted) return 0;
  model::ReplicaRecord& record = pass.state.record(id);
  record.counted_uid = pod->uid;
  record.counted = pod->restarts;
  return pod->restarts - counted;
}

}  // namespace

void charge_in_place(Pass& pass) {
  std::optional<ReplicaId> last;
  for (size_t role = 0; role < pass.spec.roles.size(); ++role) {
    if (!pass.spec.roles[role].restarts_in_place) continue;
    pass.each_replica_of(static_cast<int>(role), [&](ReplicaId id) {
      int fresh = take_uncounted(pass, id);
      if (fresh == 0) return;
      charge(pass, id, fresh);
      last = id;
    });
  }
  const model::Budget& budget = pass.spec.budget;
  if (!last || !budget.restarts_max || !budget.in_place_ends_at_limit) return;
  if (pass.state.restarts < std::max(1, *budget.restarts_max)) return;
  model::Cause cause;
  cause.kind = model::CauseKind::kBudgetSpent;
  cause.role = pass.spec.roles[last->role].name;
  cause.index = last->index;
  pass.state.budget_refused = true;
  finish(pass, model::ResultKind::kFailed, std::move(cause));
}

}  // namespace trainyard::engine
