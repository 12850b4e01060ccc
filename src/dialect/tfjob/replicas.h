// The replica specs of a TFJob, from the map of today or from v1alpha1's list. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "dialect/shared/reader.h"
#include "dialect/tfjob/spec.h"

namespace trainyard::dialect::tf {

// Decoded, defaulted, checked, in the order of kTfRoles. Role keys may be written in any
// case; the same role twice is a problem, and so is a role that is unknown. `job` is the
// job's name, which the names of the replicas are made from.
std::vector<TfReplicas> read_replicas(const Reader& spec, std::string_view api_version, std::string_view job);

}  // namespace trainyard::dialect::tf
