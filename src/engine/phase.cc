#include "engine/phase.h"

#include <fmt/format.h>

namespace trainyard::engine {

using model::Phase;
using model::PodPhase;
using model::PodSeen;
using model::ReplicaId;

namespace {

struct Tally {
  int up = 0;  // running, or ended in this attempt
  int running = 0;
  int missing = 0;  // neither a pod nor an outcome
  const PodSeen* waiting = nullptr;
};

Tally tally(const Pass& pass) {
  Tally tally;
  pass.each_replica([&](ReplicaId id) {
    if (pass.state.outcome_of(id)) {
      tally.up += 1;
      return;
    }
    const PodSeen* pod = pass.present(id);
    if (pod == nullptr) {
      tally.missing += 1;
    } else if (pod->phase == PodPhase::kRunning && !pod->terminating) {
      tally.up += 1;
      tally.running += 1;
    } else {
      tally.waiting = pod;
    }
  });
  return tally;
}

Phase next_phase(const Pass& pass, const Tally& tally, bool admitted) {
  Phase before = pass.state.phase;
  if (pass.restarted_now) return Phase::kRestarting;
  if (pass.spec.total_replicas() > 0 && tally.up >= pass.spec.running_min && tally.up > 0)
    return Phase::kRunning;
  if (before == Phase::kRestarting || before == Phase::kResuming) return before;
  return admitted || tally.running > 0 ? Phase::kStarting : Phase::kQueued;
}

// All replicas that have not ended have a pod now.
void remember_children(Pass& pass, const Tally& tally) {
  if (tally.missing > 0) return;
  pass.state.made_attempt = pass.state.attempt;
  for (size_t role = 0; role < pass.spec.roles.size(); ++role) {
    pass.state.roles[role].made = pass.spec.roles[role].replicas;
  }
  bool services = !pass.spec.service_per_replica ||
                  static_cast<int>(pass.seen.services.size()) >= pass.spec.total_replicas();
  if (pass.state.initialized || !services || !pass.upserts.empty()) return;
  pass.state.initialized = true;
  pass.note(model::NoteKind::kJobInitialized);
}

void say_what_is_missing(Pass& pass, const Tally& tally) {
  if (tally.waiting == nullptr) return;
  const PodSeen& pod = *tally.waiting;
  std::string why = pod.message.empty() ? pod.reason : pod.message;
  pass.wait(model::WaitKind::kNotStarted,
            fmt::format("{} of {} replicas have started; {} has not{}", tally.up, pass.spec.total_replicas(),
                        pod.name, why.empty() ? "" : ": " + why));
}

}  // namespace

void set_phase(Pass& pass, bool admitted) {
  Tally now = tally(pass);
  Phase before = pass.state.phase;
  pass.state.phase = next_phase(pass, now, admitted);
  remember_children(pass, now);
  if (pass.state.phase == Phase::kRunning) {
    if (before != Phase::kRunning) {
      model::Note note;
      note.kind = model::NoteKind::kJobRunning;
      note.at = pass.now;
      pass.note(std::move(note));
    }
    pass.state.cause = {};
  } else {
    say_what_is_missing(pass, now);
  }
}

}  // namespace trainyard::engine
