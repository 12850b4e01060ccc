#include "engine/commands.h"

#include "engine/finish.h"
#include "engine/restart.h"

namespace trainyard::engine {

using model::ActionKind;
using model::CommandSeen;
using model::ResultKind;
using model::RunMode;

namespace {

void carry_out(Pass& pass, const CommandSeen& command) {
  model::Cause cause;
  cause.kind = model::CauseKind::kCommand;
  cause.detail = command.name;
  switch (command.action.kind) {
    case ActionKind::kNone:
    case ActionKind::kFail:
      break;
    case ActionKind::kRestart:
      // A paused job has nothing to restart; it starts anew when it is resumed.
      if (pass.state.asked_mode == RunMode::kRun && !pass.spec.roles.empty()) {
        restart(pass, {0, 0}, model::Scope::kJob, cause);
      }
      break;
    case ActionKind::kAbort:
      pass.state.asked_mode = RunMode::kPause;
      pass.state.cause = cause;
      break;
    case ActionKind::kResume:
      pass.state.asked_mode = RunMode::kRun;
      break;
    case ActionKind::kTerminate:
      finish(pass, ResultKind::kTerminated, cause, /*by_order=*/true);
      break;
    case ActionKind::kComplete:
      finish(pass, ResultKind::kSucceeded, cause, /*by_order=*/true);
      break;
  }
}

}  // namespace

void take_command(Pass& pass) {
  if (pass.seen.commands.empty()) return;
  const CommandSeen& command = pass.seen.commands.front();
  pass.deletes.push_back(model::DeleteCommand{command.name, command.uid});
  // The others wait for the next pass, which this one's writes bring about.
  if (pass.seen.commands.size() > 1) pass.wake_at(pass.now);
  if (command.uid == pass.state.last_command_uid || pass.state.finished()) return;
  pass.state.last_command_uid = command.uid;
  model::Note note;
  note.kind = model::NoteKind::kCommandTaken;
  note.object = command.name;
  note.action = command.action;
  pass.note(note);
  if (command.action.kind != ActionKind::kNone) {
    note.kind = model::NoteKind::kActionTaken;
    pass.note(std::move(note));
  }
  carry_out(pass, command);
}

}  // namespace trainyard::engine
