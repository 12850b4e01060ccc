// How the fields of a Volcano Job must fit together: Volcano's own admission rules, and
// what it accepts and then chokes on (a last replica whose name is too long, a
// dependency on a task that is not there). Every problem is told at once. Pure.
#pragma once

#include "dialect/shared/reader.h"
#include "dialect/volcano/spec.h"

namespace trainyard::dialect::vc {

// `spec` is what decode made of `root`; problems go to root's list.
void validate(const Reader& root, const Spec& spec);

}  // namespace trainyard::dialect::vc
