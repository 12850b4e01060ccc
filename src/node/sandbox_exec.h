// A further command inside a container that runs, through `runc exec`. Its process inside
// is killed with it when whoever asked for it goes away.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "node/runtime.h"

namespace trainyard::node {

// The container's name for the OCI runtime. Pure.
std::string sandbox_name(const ContainerId& id);

// What the OCI runtime itself sees; nothing of it reaches a container.
std::vector<std::pair<std::string, std::string>> tool_environment();

// `state` is the runtime's --root, `bundle` the container's folder.
Result<std::unique_ptr<ExecProcess>> sandbox_exec(const std::filesystem::path& runtime,
                                                  const std::filesystem::path& state,
                                                  const std::filesystem::path& bundle, const ContainerId& id,
                                                  const ExecPlan& plan);

}  // namespace trainyard::node
