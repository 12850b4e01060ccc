// The container's first process: started by the shim with its own streams, session,
// user and folder. Edge; part of the shim's single thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "node/shim_plan.h"

namespace trainyard::node {

struct Child {
  pid_t pid = 0;
  Fd in;             // we write; not valid when it has no stdin
  Fd out;            // we read
  Fd err;            // we read; not valid with a terminal
  bool tty = false;  // `in` is then the same terminal as `out`
};

// Why a container could not be started, and the exit code that says so: 127 when there is
// no such command, 126 when it cannot be run, 128 for the rest.
struct StartFailure {
  int exit_code = 0;
  std::string message;
};

// The file that `command` names, looked for in the PATH of the environment.
Result<std::string> find_command(const std::string& command,
                                 const std::vector<std::pair<std::string, std::string>>& env);

// Returns once the process runs argv. All descriptors are non-blocking and close on exec.
std::variant<Child, StartFailure> start_child(const ShimPlan& plan);

void set_nonblocking(int fd);

}  // namespace trainyard::node
