// Carries out a verb: connects, does it, says what happened. The exit status of the process:
// 0 done, 1 not, 2 the command line made no sense, 3 (wait, delete --wait) out of time; of
// exec the command's own.
#pragma once

#include "cli/connect.h"
#include "cli/console.h"
#include "cli/verbs.h"

namespace trainyard::cli {

int run_verb(const OnCluster& command, const Console& console);

// The same on a cluster that is connected already.
int carry_out(const Verb& verb, const Cluster& cluster, const Console& console);

}  // namespace trainyard::cli
