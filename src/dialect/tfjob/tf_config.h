// TF_CONFIG: how a TensorFlow process learns who it is and where the others are. Pure.
#pragma once

#include <string>

#include "dialect/shared/dialect.h"

namespace trainyard::dialect::tf {

// The exact text for one replica; "" for a job of a single replica, which needs none.
//
// The usual shape lists every role; the evaluator stays out of it unless settings say
// otherwise, because TensorFlow waits for everybody who is listed and an evaluator never
// answers. With dynamic workers each replica is told only what cannot change under it.
std::string tf_config(const model::JobSpec& spec, const Settings& settings, model::ReplicaId id);

}  // namespace trainyard::dialect::tf
