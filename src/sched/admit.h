// Admit: which gangs may have their pods made, for groups whose pods wait for that (Volcano's
// Pending -> Inqueue). Pure over a Pass, after all turns. One that did not say what it needs is
// let in at once; any other while its queue may hold it, and
//   - the cluster, a fifth over what it has, holds it beside what is held and asked for. What the
//     gang has a right to take, and what gangs ask for that it goes before by queue priority or
//     PriorityClass, does not count: else it would never have the pods to preempt with; or
//   - it has waited as long as one must to be reserved for, and nobody that goes before it waits
//     with pods: else smaller ones would overtake it for ever.
// Being let in promises nothing.
#pragma once

#include "sched/pass.h"

namespace trainyard::sched {

void admit(Pass& pass);

}  // namespace trainyard::sched
