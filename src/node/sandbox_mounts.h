// The mounts of a container, in the order in which they are made: the kernel's file
// systems, the host's further file systems, the pod's own files, then the plan's. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "node/oci_spec.h"

namespace trainyard::node {

json::array sandbox_mounts(const ContainerPlan& plan, const SandboxFacts& facts);

// From /proc/self/mountinfo: where real file systems (disks, network shares) are mounted
// besides the root itself, parents before children, without those below `leave_out`.
std::vector<std::string> host_layer_targets(std::string_view mountinfo,
                                            const std::vector<std::string>& leave_out);

// Every mount point of mountinfo at or below `folder`, in the order of the file.
std::vector<std::string> mounts_below(std::string_view mountinfo, std::string_view folder);

}  // namespace trainyard::node
