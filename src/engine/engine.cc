#include "engine/engine.h"

#include "engine/budget.h"
#include "engine/children.h"
#include "engine/commands.h"
#include "engine/deadline.h"
#include "engine/deletion.h"
#include "engine/failure.h"
#include "engine/finish.h"
#include "engine/gang.h"
#include "engine/pass.h"
#include "engine/pause.h"
#include "engine/phase.h"
#include "engine/pods.h"
#include "engine/restart.h"
#include "engine/success.h"

namespace trainyard::engine {

using model::Phase;
using model::Plan;
using model::WriteState;

namespace {

void greet(Pass& pass) {
  if (pass.state.phase != Phase::kNew) return;
  pass.note(model::NoteKind::kJobCreated);
  for (const model::Advice& advice : pass.spec.advice) {
    model::Note note;
    note.kind = model::NoteKind::kAdvice;
    note.reason = advice.reason;
    note.text = advice.message;
    pass.note(std::move(note));
  }
}

// Whatever may end the job or start parts of it again, in the order in which it counts:
// a success that is there beats everything that is seen beside it.
void decide(Pass& pass) {
  record_successes(pass);
  check_success(pass);
  if (!pass.state.finished()) take_command(pass);
  if (pass.state.finished() || wants_pause(pass)) return;
  resume_if_paused(pass);
  enforce_deadline(pass);
  if (!pass.state.finished()) charge_in_place(pass);
  if (!pass.state.finished()) answer_happenings(pass);
  if (!pass.state.finished()) check_nothing_left(pass);
}

// One pass of a job that is to run.
void carry_on(Pass& pass) {
  delete_old_pods(pass);
  bool admitted = keep_gang(pass);
  bool complete = keep_companions(pass);
  keep_tensorboard(pass);
  if (admitted && complete) {
    if (!pass.state.started_at) {
      pass.state.started_at = pass.now;
      enforce_deadline(pass);
    }
    keep_services(pass);
    make_missing_pods(pass);
  }
  set_phase(pass, admitted);
}

void append(std::vector<model::Step>& to, std::vector<model::Step>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

Plan assemble(Pass& pass) {
  Plan plan;
  // The steps of every group, and those around them.
  plan.steps.reserve(pass.deletes.size() + pass.upserts.size() + pass.creates.size() + 4);
  if (pass.add_finalizer) plan.steps.push_back(model::AddFinalizer{});
  if (!pass.seen.deleting) plan.steps.push_back(WriteState{});
  append(plan.steps, pass.deletes);
  append(plan.steps, pass.upserts);
  append(plan.steps, pass.creates);
  if (plan.steps.size() > static_cast<size_t>(model::kStepsPerPlanMax)) {
    plan.steps.resize(model::kStepsPerPlanMax);
    pass.wake_at(pass.now);
    pass.wait(model::WaitKind::kMoreSteps, "a large job: the rest follows");
  } else {
    if (pass.drop_finalizer) plan.steps.push_back(model::DropFinalizer{});
    if (pass.delete_job) plan.steps.push_back(model::DeleteJob{pass.spec.uid});
  }
  plan.state = std::move(pass.state);
  plan.wake = pass.wake;
  plan.notes = std::move(pass.notes);
  plan.waits = std::move(pass.waits);
  return plan;
}

}  // namespace

Plan plan(const model::Observation& seen, Time now) {
  Pass pass(seen, now);
  if (seen.deleting) {
    let_go(pass);
    return assemble(pass);
  }
  if (!pass.spec.managed) {
    pass.wait(model::WaitKind::kNotManaged, "another controller manages this job (managedBy)");
    Plan nothing;
    nothing.state = seen.state;
    nothing.waits = std::move(pass.waits);
    return nothing;
  }
  greet(pass);
  keep_finalizer(pass);
  pass.state.observed_generation = pass.spec.generation;
  if (pass.state.finished()) {
    take_command(pass);
  } else {
    decide(pass);
  }
  if (!pass.state.finished() && wants_pause(pass)) {
    stand_still(pass);
  } else if (!pass.state.finished()) {
    carry_on(pass);
  }
  if (pass.state.finished()) clean_up(pass);
  return assemble(pass);
}

}  // namespace trainyard::engine
