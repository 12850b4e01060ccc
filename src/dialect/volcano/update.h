// What may change in a stored Volcano Job: spec.minAvailable, spec.priorityClassName,
// the replicas and minAvailable of its tasks, and the claim name that Volcano itself
// writes beside a volumeClaim. The number of tasks is fixed. Pure.
#pragma once

#include <vector>

#include "dialect/shared/problem.h"
#include "kube/json.h"

namespace trainyard::dialect::vc {

// Compares after defaulting, so that spelling out a default is no change.
std::vector<Problem> validate_update(const json::object& before, const json::object& after);

}  // namespace trainyard::dialect::vc
