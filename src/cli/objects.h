// A job's children as they go to the API: everything that would be created for it,
// in the order of creation. Pure but for the keys, which are asked for only when a
// Secret needs them.
//
// Without a uid of the job its children carry no ownerReferences, because the API
// refuses an empty one; nothing would collect them then.
#pragma once

#include <functional>

#include "base/result.h"
#include "dialect/shared/dialect.h"
#include "kube/json.h"
#include "model/job_spec.h"
#include "model/job_state.h"

namespace trainyard::cli {

using KeyMaker = std::function<Result<dialect::KeyPair>()>;

// Tells what is still to be created given what the state remembers, one by one (all together they may
// be thousands of pods that each name all others): nothing for a job that is done, no pods for one that
// is paused, no replica twice that has succeeded.
Result<Done> each_child_of(const dialect::Dialect& dialect, const dialect::Settings& settings,
                           const model::JobSpec& spec, const model::JobState& state, const KeyMaker& keys,
                           const std::function<void(json::object)>& tell);

// A v1 List.
json::object list_of(json::array items);

}  // namespace trainyard::cli
