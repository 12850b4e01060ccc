// `trainyard scheduler`: the gang scheduler of a Kubernetes cluster, until it is told to go.
#pragma once

#include "cli/console.h"
#include "cli/scheduler_command.h"

namespace trainyard::cli {

int run_scheduler(const SchedulerCommand& command, const Console& console);

}  // namespace trainyard::cli
