// Reasons: why a gang waits, in words a person can act on:
//   "needs 4 x nvidia.com/gpu on nodes zone=a; 3 free, 1 frees when default/x ends"
// Reads the pass, changes nothing in it that lasts.
#pragma once

#include <string>

#include "sched/pass.h"

namespace trainyard::sched {

// Of a gang that no node could take even if it were empty; nullopt when each of its pods fits
// on some node by itself.
std::optional<Refusal> never_fits_a_node(Pass& pass, int g);

// Of a gang that does not fit now. `in_detail`: also who will free what it lacks.
std::string shortage_text(Pass& pass, int g, bool in_detail);
// Of a gang that does not fit on the empty cluster. REQUIRES: the level of that is there.
std::string too_large_text(Pass& pass, int g);

// Of a gang whose claims need more volumes than there are; "" when volumes are not what it lacks.
std::string lacking_volumes_text(const Pass& pass, int g);

// Of the members beyond its minimum that have no node; `refusal`: what its queue has against one of them,
// "" nothing.
std::string extra_members_text(Pass& pass, int g, const std::string& refusal);

std::string missing_members_text(const Gang& gang, const Needs& needs);

}  // namespace trainyard::sched
