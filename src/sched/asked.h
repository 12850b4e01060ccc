// Asked: what a waiting gang asks for, for those who put it in words. Reads the pass.
#pragma once

#include <string>
#include <vector>

#include "sched/pass.h"

namespace trainyard::sched {

// The members that must be placed: of each role its minimum, then in order.
std::vector<int> needed_members(const Gang& gang, const Needs& needs);

// The nodes on which pods of the class may be, whatever is free there; ranks.
std::vector<int> nodes_of(Pass& pass, int g, int pod_class);

// " on nodes zone=a"; "" when any node will do.
std::string on_nodes(const Pass& pass, int g, int pod_class);

// "1 pod", "2 pods".
std::string pods_text(int count);

}  // namespace trainyard::sched
