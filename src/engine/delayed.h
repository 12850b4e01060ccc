// Delayed actions: rules with a timeout. They are remembered on the job, so a restart
// of ours loses none, and taken back when the replica runs again or a restart covers it.
#pragma once

#include "engine/pass.h"
#include "engine/rules.h"

namespace trainyard::engine {

// Remembers the rule's action for later: one for a replica. The same action again changes nothing, another
// takes its place.
void delay(Pass& pass, const Happening& happening, const model::Rule& rule);
// Takes those whose time has come, arms the wake-up for the rest.
void run_delayed(Pass& pass);

}  // namespace trainyard::engine
