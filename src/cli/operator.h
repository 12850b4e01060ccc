// `trainyard operator`: looks after the jobs of a Kubernetes cluster until it is told to end.
#pragma once

#include "cli/console.h"
#include "cli/operator_command.h"

namespace trainyard::cli {

int run_operator(const OperatorCommand& command, const Console& console);

}  // namespace trainyard::cli
