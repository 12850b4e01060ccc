#include "engine/pause.h"

#include "engine/children.h"
#include "engine/gang.h"
#include "engine/restart.h"

namespace trainyard::engine {

using model::Phase;
using model::PodSeen;
using model::RunMode;

bool wants_pause(const Pass& pass) {
  return pass.spec.mode == RunMode::kPause || pass.state.asked_mode == RunMode::kPause;
}

namespace {

bool pausing_or_paused(Phase phase) { return phase == Phase::kPausing || phase == Phase::kPaused; }

// What ran until now belongs to the past. A job that never ran has no past.
void enter(Pass& pass) {
  if (pass.state.phase != Phase::kNew) {
    renew(pass, pass.spec.pause.keeps_finished);
    pass.state.kills += 1;
  }
  pass.note(model::NoteKind::kJobPaused);
}

}  // namespace

void stand_still(Pass& pass) {
  if (!pausing_or_paused(pass.state.phase)) enter(pass);
  bool stopping = false;
  for (const PodSeen& pod : pass.seen.pods) {
    if (pod.gone || (pass.spec.pause.keeps_finished && ended(pod) && !pod.terminating)) continue;
    stopping = true;
    pass.delete_pod(pod);
  }
  delete_services(pass);
  delete_companions(pass);
  delete_gang(pass);
  pass.state.phase = stopping ? Phase::kPausing : Phase::kPaused;
  pass.wait(model::WaitKind::kPaused,
            stopping ? "pausing: waiting for pods to end" : "paused until it is resumed");
}

void resume_if_paused(Pass& pass) {
  if (!pausing_or_paused(pass.state.phase)) return;
  pass.state.phase = Phase::kResuming;
  pass.state.resumes += 1;
  pass.state.started_at = pass.now;
  pass.note(model::NoteKind::kJobResumed);
}

}  // namespace trainyard::engine
