#include "engine/deadline.h"

#include <fmt/format.h>

#include "engine/finish.h"

namespace trainyard::engine {

void enforce_deadline(Pass& pass) {
  if (!pass.spec.active_deadline || !pass.state.started_at) return;
  Time end = *pass.state.started_at + *pass.spec.active_deadline;
  if (pass.now >= end) {
    model::Cause cause;
    cause.kind = model::CauseKind::kDeadline;
    cause.detail = fmt::format("active for {}", format_duration(*pass.spec.active_deadline));
    finish(pass, model::ResultKind::kFailed, std::move(cause));
    return;
  }
  pass.wake_at(end);
}

}  // namespace trainyard::engine
