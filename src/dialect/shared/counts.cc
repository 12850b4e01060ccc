#include "dialect/shared/counts.h"

namespace trainyard::dialect {
namespace {

using model::PodPhase;

void count_pod(RoleCounts& counts, const model::PodSeen& pod) {
  if (pod.terminating && pod.phase != PodPhase::kSucceeded && pod.phase != PodPhase::kFailed) {
    ++counts.terminating;
    return;
  }
  switch (pod.phase) {
    case PodPhase::kPending:
      ++counts.pending;
      break;
    case PodPhase::kRunning:
      ++counts.running;
      break;
    case PodPhase::kSucceeded:
      ++counts.succeeded;
      break;
    case PodPhase::kFailed:
      ++counts.failed;
      break;
    case PodPhase::kUnknown:
      ++counts.unknown;
      break;
  }
}

void count_outcome(RoleCounts& counts, model::Outcome outcome) {
  switch (outcome) {
    case model::Outcome::kSucceeded:
      ++counts.succeeded;
      break;
    case model::Outcome::kFailed:
      ++counts.failed;
      break;
  }
}

}  // namespace

std::vector<RoleCounts> count_replicas(const model::Observation& seen, const model::JobState& state) {
  std::vector<RoleCounts> counts(seen.spec.roles.size());
  std::vector<std::vector<bool>> done(seen.spec.roles.size());
  for (size_t role = 0; role < counts.size(); ++role) {
    int replicas = seen.spec.roles[role].replicas;
    done[role].assign(replicas, false);
    for (int index = 0; index < replicas; ++index) {
      std::optional<model::Outcome> outcome = state.outcome_of({static_cast<int>(role), index});
      if (!outcome) continue;
      count_outcome(counts[role], *outcome);
      done[role][index] = true;
    }
  }
  for (const model::PodSeen& pod : seen.pods) {
    if (pod.gone || pod.id.role < 0 || pod.id.role >= static_cast<int>(counts.size())) continue;
    RoleCounts& of_role = counts[pod.id.role];
    std::vector<bool>& done_here = done[pod.id.role];
    bool present = pod.id.index >= 0 && pod.id.index < static_cast<int>(done_here.size()) &&
                   pod.attempt >= state.attempt_of(pod.id);
    if (!present) {
      ++of_role.old;
    } else if (!done_here[pod.id.index]) {
      count_pod(of_role, pod);
      done_here[pod.id.index] = true;
    }
  }
  for (size_t role = 0; role < counts.size(); ++role) {
    for (bool here : done[role]) counts[role].missing += here ? 0 : 1;
  }
  return counts;
}

}  // namespace trainyard::dialect
