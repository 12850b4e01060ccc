// Whether Volcano's own controller is in the cluster: two on the same Jobs would undo each other's work, so
// where it is its Jobs are left to it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/client.h"

namespace trainyard::cli {

enum class VolcanoController { kAbsent, kRuns, kUnknown };

// A pod of it that has not ended, as "namespace/name"; "" for none. It is looked for in the whole cluster or,
// where that is not allowed, in these namespaces: who may see no others was told to own the Jobs there.
Result<std::string> find_volcano_controller(client::Client& client,
                                            const std::vector<std::string>& namespaces);

// Whether an operator that began with the one answer must begin anew with the other. Once Jobs were left to
// Volcano they stay so: a controller that is away for a minute comes back.
bool must_begin_anew(VolcanoController before, VolcanoController now);

}  // namespace trainyard::cli
