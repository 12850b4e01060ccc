// Commands: requests to a job that are objects of their own (bus.volcano.sh), with
// their fields at the top. Pure.
#pragma once

#include <optional>

#include "dialect/shared/dialect.h"
#include "kube/json.h"

namespace trainyard::dialect::vc {

// nullopt when it is for something else than a Volcano Job (queues have commands too).
// Actions are AbortJob, ResumeJob, RestartJob, TerminateJob and CompleteJob; any other
// word comes out as ActionKind::kNone, to be taken away without effect.
std::optional<CommandFor> see_command(const json::object& command);

}  // namespace trainyard::dialect::vc
