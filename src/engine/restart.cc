#include "engine/restart.h"

namespace trainyard::engine {

using model::Outcome;
using model::PodSeen;
using model::ReplicaId;
using model::ReplicaRecord;
using model::Scope;

namespace {

// The replica starts from nothing in attempt `attempt`.
void reset_replica(Pass& pass, ReplicaId id, int attempt) {
  ReplicaRecord& record = pass.state.record(id);
  record = ReplicaRecord{};
  record.id = id;
  record.attempt = attempt;
}

template <typename Covers>
void forget(Pass& pass, Covers covers) {
  std::erase_if(pass.state.replicas, [&](const ReplicaRecord& record) { return covers(record.id); });
}

template <typename Covers>
void cancel_delayed(Pass& pass, Covers covers) {
  std::erase_if(pass.state.delayed, [&](const model::DelayedAction& delayed) { return covers(delayed.id); });
}

int partition_of(const Pass& pass, ReplicaId id) {
  int size = pass.spec.roles[id.role].partition_size;
  return size > 0 ? id.index / size : id.index;
}

// Old, and not the pod of a success that was carried over into this attempt.
bool is_leftover(const Pass& pass, const PodSeen& pod) {
  if (!pass.is_old(pod)) return false;
  return pod.phase != model::PodPhase::kSucceeded || pass.state.outcome_of(pod.id) != Outcome::kSucceeded;
}

}  // namespace

void renew(Pass& pass, bool keep_succeeded) {
  std::vector<ReplicaRecord> kept;
  int attempt = pass.state.attempt + 1;
  for (const ReplicaRecord& record : pass.state.replicas) {
    if (!keep_succeeded || pass.state.outcome_of(record.id) != Outcome::kSucceeded) continue;
    ReplicaRecord carried;
    carried.id = record.id;
    carried.attempt = attempt;
    carried.outcome = Outcome::kSucceeded;
    kept.push_back(carried);
  }
  for (model::RoleState& role : pass.state.roles) {
    // A completion that was answered stays answered when its successes are carried over.
    role.completed_attempt = keep_succeeded && role.completed_attempt >= 0 ? attempt : -1;
  }
  pass.state.attempt = attempt;
  pass.state.floor = attempt;
  pass.state.replicas = std::move(kept);
  pass.state.delayed.clear();
}

void restart(Pass& pass, ReplicaId id, Scope scope, const model::Cause& cause) {
  auto same_role = [&](ReplicaId other) { return other.role == id.role; };
  auto same_partition = [&](ReplicaId other) {
    return same_role(other) && partition_of(pass, other) == partition_of(pass, id);
  };
  switch (scope) {
    case Scope::kPod:
      reset_replica(pass, id, ++pass.state.attempt);
      cancel_delayed(pass, [&](ReplicaId other) { return other == id; });
      break;
    case Scope::kPartition: {
      int attempt = ++pass.state.attempt;
      pass.each_replica_of(id.role, [&](ReplicaId other) {
        if (same_partition(other)) reset_replica(pass, other, attempt);
      });
      cancel_delayed(pass, same_partition);
      break;
    }
    case Scope::kRole:
      pass.state.roles[id.role].floor = ++pass.state.attempt;
      forget(pass, same_role);
      cancel_delayed(pass, same_role);
      break;
    case Scope::kJob:
      renew(pass, /*keep_succeeded=*/false);
      pass.state.kills += 1;
      break;
  }
  pass.restarted_now = true;
  pass.state.cause = cause;
  model::Note note;
  note.kind = model::NoteKind::kJobRestarting;
  note.replica = id;
  note.exit_code = cause.exit_code;
  note.cause = cause;
  pass.note(std::move(note));
}

OldPods::OldPods(const Pass& pass) : pass_(pass), of_role_(pass.spec.roles.size(), nullptr) {
  for (const PodSeen& pod : pass.seen.pods) {
    if (pod.gone || pass.is_extra(pod) || !is_leftover(pass, pod)) continue;
    if (pod.attempt < pass.state.floor) of_job_ = &pod;
    if (pod.attempt < pass.state.roles[pod.id.role].floor) of_role_[pod.id.role] = &pod;
    of_partition_[{pod.id.role, partition_of(pass, pod.id)}] = &pod;
  }
}

const PodSeen* OldPods::blocker(ReplicaId id) const {
  if (of_job_ != nullptr) return of_job_;
  if (of_role_[id.role] != nullptr) return of_role_[id.role];
  auto at = of_partition_.find({id.role, partition_of(pass_, id)});
  return at == of_partition_.end() ? nullptr : at->second;
}

void delete_old_pods(Pass& pass) {
  for (const PodSeen& pod : pass.seen.pods) {
    if (pod.gone) continue;
    if (pass.is_extra(pod) || is_leftover(pass, pod)) pass.delete_pod(pod);
  }
}

}  // namespace trainyard::engine
