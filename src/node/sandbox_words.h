// Texts of the sandbox runtime: what a runtime's failure means, a pod's files, what cannot
// be honoured. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/runtime.h"

namespace trainyard::node {

struct StartVerdict {
  int exit_code = 128;  // 127: no such command; 126: it cannot be run
  std::string message;
};
// What to tell about an image that was made for another machine; "" when it suits this one. Pure.
std::string foreign_image_words(std::string_view image, std::string_view made_for, std::string_view machine);

// From what runc or crun said when they could not start a container.
StartVerdict read_start_failure(std::string_view words);

// resolv.conf of a pod. Without the outside nobody answers: then names that the hosts file
// does not have fail at once. A name server on the host's loopback is not the pod's.
std::string resolv_text(std::string_view host, bool outside);

// Kernel settings that a pod cannot have of its own: "vm.swappiness", or the network's for
// a pod that shares the host's.
std::vector<std::string> foreign_sysctls(const PodPlan& pod);

// What an ordinary user's sandboxes cannot do; `why` limits are not enforced, "" when nothing is known.
void add_rootless_words(const std::vector<ContainerPlan>& containers, const Enforced& enforced,
                        std::string_view why, std::vector<std::string>& words);

}  // namespace trainyard::node
