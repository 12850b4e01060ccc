// Failure: finds what went wrong since the last pass, asks the rule table what to do
// about each, and does it. Failures are taken in the order in which they happened, so
// that the cause of a restart of the whole job is the first replica that failed and
// what its peers did afterwards counts for nothing.
#pragma once

#include "engine/pass.h"
#include "engine/rules.h"

namespace trainyard::engine {

// Answers failures, disruptions, deletions, replicas that must run for ever, pods
// pending too long, roles completed or restarted too often, a gang that fell apart.
void answer_happenings(Pass& pass);

// Does one action, now. `charged` says whether a restart costs budget.
// Returns whether the job goes on as before for the other replicas.
bool act(Pass& pass, const Happening& happening, const model::Action& action, bool charged);

}  // namespace trainyard::engine
