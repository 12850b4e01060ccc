// Whether sandboxes can run on this machine, with which OCI runtime, and if not why: the
// words that go with the fallback to plain processes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/cgroup.h"

namespace trainyard::node {

struct SandboxSupport {
  std::filesystem::path runtime;  // runc or crun
  CgroupLayout cgroups;
  // The file system of the data folder cannot hold a layer above another file system
  // (it is one itself): layers are kept in memory.
  bool layers_in_memory = false;
  // Root of a user namespace (sandbox_user.h): a network of its own; control groups only where
  // the user's systemd has handed some over (user_scope.h), otherwise `cgroups` is empty.
  bool rootless = false;
  std::string no_limits;  // why it is, for a person; "" when nothing is known

  Enforced enforced() const { return {cgroups.limits_cpu && has_cgroups(), has_cgroups()}; }
  bool has_cgroups() const { return !cgroups.mounts.empty(); }
};

// Which OCI runtimes suit the machine, best first. crun starts faster; it refuses the hybrid
// layout, and in version 2 it ends where it may not raise its limits (CAP_SYS_RESOURCE). Pure.
std::vector<std::string> runtime_order(const CgroupLayout& layout, bool raises_limits);
// Whether the process with this /proc/<pid>/status may raise its limits. Pure.
bool may_raise_limits(std::string_view status);

// Whether the folder that is "/" is where something is mounted: in a plain chroot it is not. Pure.
bool has_root_mount(std::string_view mountinfo);

// Tries what sandboxes need, in namespaces that vanish with the trial: control groups,
// namespaces, a bridge, a layer over the host's root. Makes `data_dir` if it is not there.
// Milliseconds; nothing is left behind. `wanted` ("runc", "crun"): that OCI runtime or none.
Result<SandboxSupport> sandbox_support(const std::filesystem::path& data_dir, const std::string& wanted = "");

}  // namespace trainyard::node
