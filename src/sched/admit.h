// Admit: which gangs may have their pods made, for groups whose pods wait for that (Volcano's
// Pending -> Inqueue). Pure over a Pass. A gang that said what it needs is let in while its
// queue may hold it and the cluster, a fifth over what it has, is not spoken for; one that
// did not is let in at once. Being let in promises nothing.
#pragma once

#include "sched/pass.h"

namespace trainyard::sched {

void admit(Pass& pass);

}  // namespace trainyard::sched
