// `trainyard run`: jobs on this machine, from their documents to their end, before the
// user's eyes.
#pragma once

#include "cli/commands.h"
#include "cli/console.h"

namespace trainyard::cli {

// The exit status: see the command's help.
int run_jobs(const RunJobs& command, const Console& console);

}  // namespace trainyard::cli
