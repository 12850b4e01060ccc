#include "engine/finish.h"

#include "base/check.h"
#include "engine/children.h"
#include "engine/gang.h"
#include "engine/ttl.h"

namespace trainyard::engine {

using model::Cleanup;
using model::Phase;
using model::PodSeen;
using model::ResultKind;

void finish(Pass& pass, ResultKind result, model::Cause cause, bool by_order) {
  CHECK(!pass.state.finished());
  pass.state.result = result;
  pass.state.cause = cause;
  pass.state.finished_at = pass.now;
  pass.state.delayed.clear();
  pass.state.kills += 1;
  pass.state.phase = Phase::kFinished;
  if (by_order && result == ResultKind::kSucceeded) pass.state.phase = Phase::kCompleting;
  if (by_order && result == ResultKind::kTerminated) pass.state.phase = Phase::kTerminating;
  model::Note note;
  switch (result) {
    case ResultKind::kSucceeded:
      note.kind = model::NoteKind::kJobSucceeded;
      break;
    case ResultKind::kFailed:
      note.kind = model::NoteKind::kJobFailed;
      break;
    case ResultKind::kTerminated:
      note.kind = model::NoteKind::kJobTerminated;
      break;
  }
  note.cause = std::move(cause);
  pass.note(std::move(note));
}

namespace {

// Whether a pod goes now that the job is done. Pods that ended are evidence and only
// kAll takes them; one that still runs stays only under kNone, and only if it is not
// the leftover of an earlier attempt.
bool goes(const Pass& pass, const PodSeen& pod) {
  if (pass.spec.cleanup == Cleanup::kAll) return true;
  if (ended(pod)) return false;
  return pass.spec.cleanup == Cleanup::kUnfinished || pass.is_extra(pod) || pass.is_old(pod);
}

}  // namespace

void clean_up(Pass& pass) {
  bool clearing = false;
  for (const PodSeen& pod : pass.seen.pods) {
    if (pod.gone || !goes(pass, pod)) continue;
    clearing = true;
    pass.delete_pod(pod);
  }
  if (pass.spec.cleanup != Cleanup::kNone) delete_services(pass);
  delete_companions(pass);
  delete_gang(pass);
  Phase& phase = pass.state.phase;
  if (phase == Phase::kCompleting || phase == Phase::kTerminating) {
    if (!clearing) phase = Phase::kFinished;
  } else {
    phase = Phase::kFinished;
  }
  if (phase == Phase::kFinished) expire(pass);
}

}  // namespace trainyard::engine
