// `trainyard queue`: the queues behind an API, shown and changed.
#pragma once

#include "cli/connect.h"
#include "cli/console.h"
#include "cli/scheduler_command.h"

namespace trainyard::cli {

int run_queue(const QueueCommand& command, const Console& console);
// The same on a cluster that is there already.
int run_queue_on(const Cluster& cluster, const QueueCommand& command, const Console& console);

}  // namespace trainyard::cli
