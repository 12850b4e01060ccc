// Neighbours: why pods do not go to nodes that have room for them, in words: host ports, and pods that want
// to be near one another or apart:
//   "needs 2 pods with host port 7000, one to a node; 1 fits, default/x has the port"
// Reads the pass at the levels in use, changes nothing in it that lasts.
#pragma once

#include <string>

#include "sched/pass.h"

namespace trainyard::sched {

// "" when its pods do not keep one another out, and others do not either. `with_holder`: also who has a port.
std::string neighbours_text(Pass& pass, int g, bool with_holder);

// Whether it wants to be near pods that are there now: an empty cluster says nothing about such a gang.
bool follows_others(const Pass& pass, int g);

}  // namespace trainyard::sched
