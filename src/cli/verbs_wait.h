// The verb `wait`: until a job has come as far as is asked. The exit status: 0 it has, 1 it
// never will (it ended otherwise, or was deleted), 3 it had not in time.
#pragma once

#include <optional>

#include "cli/connect.h"
#include "cli/console.h"
#include "cli/output_job.h"
#include "cli/verbs.h"

namespace trainyard::cli {

int wait_for_job(const WaitForJob& verb, const Cluster& cluster, const Console& console);

// Whether the goal is reached, cannot be any more, or (nullopt) may be later. Pure.
std::optional<bool> reached(Goal goal, Standing standing);

}  // namespace trainyard::cli
