#include "engine/pass.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace trainyard::engine {

using model::Note;
using model::NoteKind;
using model::Outcome;
using model::PodSeen;
using model::ReplicaId;

Pass::Pass(const model::Observation& observation, Time time)
    : seen(observation), spec(observation.spec), now(time.whole_seconds()), state(observation.state) {
  state.roles.resize(spec.roles.size());
  size_t total = 0;
  for (const model::Role& role : spec.roles) {
    CHECK(role.replicas >= 0);
    offsets_.push_back(total);
    total += static_cast<size_t>(role.replicas);
  }
  slots_.assign(total, nullptr);
  for (const PodSeen& pod : seen.pods) {
    bool in_spec = pod.id.role >= 0 && pod.id.role < static_cast<int>(spec.roles.size()) &&
                   pod.id.index >= 0 && pod.id.index < spec.roles[pod.id.role].replicas;
    if (!in_spec || pod.gone) continue;
    const PodSeen*& holder = slots_[slot(pod.id)];
    // Two pods that claim one replica: the one that bears its name is it.
    if (holder == nullptr || pod.name == spec.pod_name(pod.id)) holder = &pod;
  }
}

const PodSeen* Pass::present(ReplicaId id) const {
  const PodSeen* pod = occupant(id);
  return pod != nullptr && pod->attempt >= state.attempt_of(id) ? pod : nullptr;
}

bool Pass::is_extra(const PodSeen& pod) const {
  if (pod.id.role < 0 || pod.id.role >= static_cast<int>(spec.roles.size())) return true;
  if (pod.id.index < 0 || pod.id.index >= spec.roles[pod.id.role].replicas) return true;
  return !pod.gone && occupant(pod.id) != &pod;
}

bool Pass::is_old(const PodSeen& pod) const { return pod.attempt < state.attempt_of(pod.id); }

bool Pass::was_deleted(ReplicaId id) const {
  if (occupant(id) != nullptr || state.outcome_of(id)) return false;
  return id.index < state.roles[id.role].made && state.attempt_of(id) <= state.made_attempt;
}

int Pass::count(int role, Outcome outcome) const {
  int floor = state.floor_of(role);
  int replicas = spec.roles[role].replicas;
  return static_cast<int>(
      std::count_if(state.replicas.begin(), state.replicas.end(), [&](const auto& record) {
        return record.id.role == role && record.id.index < replicas && record.attempt >= floor &&
               record.outcome == outcome;
      }));
}

bool Pass::all_ended(int role) const {
  return count(role, Outcome::kSucceeded) + count(role, Outcome::kFailed) == spec.roles[role].replicas;
}

void Pass::wake_at(Time time) {
  if (!wake || time < *wake) wake = time;
}

void Pass::note(NoteKind kind) {
  Note plain;
  plain.kind = kind;
  notes.push_back(std::move(plain));
}

void Pass::delete_pod(const PodSeen& pod) {
  if (pod.gone || pod.terminating) return;
  deletes.push_back(model::DeletePod{pod.name, pod.uid});
}

std::string label(const model::JobSpec& spec, ReplicaId id) {
  return fmt::format("{}-{}", spec.roles[id.role].name, id.index);
}

}  // namespace trainyard::engine
