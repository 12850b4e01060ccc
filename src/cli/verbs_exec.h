// The verb `exec`: a command inside a replica; its exit code is ours.
#pragma once

#include "cli/connect.h"
#include "cli/console.h"
#include "cli/verbs.h"

namespace trainyard::cli {

int exec_in(const ExecIn& verb, const Cluster& cluster, const Console& console);

}  // namespace trainyard::cli
