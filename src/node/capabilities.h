// Which of Linux's capabilities a container has: the usual ones of Docker and containerd, and what its
// securityContext adds and drops, in containerd's order. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::node {

// As a manifest writes them: "SYS_PTRACE", in any case; "ALL". `added` counts before `dropped`.
struct CapabilityWishes {
  std::vector<std::string> added;
  std::vector<std::string> dropped;
  bool operator==(const CapabilityWishes&) const = default;
};

// The first of the wishes that names no capability; "" when each does.
std::string unknown_capability(const CapabilityWishes& wishes);

// "CAP_CHOWN", ..., in the kernel's order. `last` is the highest that this kernel has (cap_last_cap).
std::vector<std::string_view> capabilities_of(const CapabilityWishes& wishes, bool privileged, int last);

}  // namespace trainyard::node
