#include "engine/ttl.h"

#include <fmt/format.h>

#include "base/check.h"

namespace trainyard::engine {

void expire(Pass& pass) {
  CHECK(pass.state.finished());
  if (!pass.spec.ttl_after_finished || !pass.state.finished_at) return;
  Time end = *pass.state.finished_at + *pass.spec.ttl_after_finished;
  if (pass.now >= end) {
    pass.delete_job = true;
    return;
  }
  pass.wake_at(end);
  pass.wait(model::WaitKind::kTimeToLive, fmt::format("the job is deleted in {} (ttlSecondsAfterFinished)",
                                                      format_duration(end - pass.now)));
}

}  // namespace trainyard::engine
