// Rules: which row of a role's table answers what happened. Pure look-up.
#pragma once

#include <optional>

#include "engine/pass.h"

namespace trainyard::engine {

// What happened, as rules see it.
struct Happening {
  model::Trigger trigger = model::Trigger::kFailed;
  model::ReplicaId id;
  std::optional<int> exit_code;  // of kFailed; nullopt when nobody knows it
  const model::PodSeen* pod = nullptr;
};

// The first rule of the role's table that matches, or null.
const model::Rule* matching_rule(const model::JobSpec& spec, const Happening& happening);
// Whether this is the one replica whose success is the job's.
bool is_main(const model::JobSpec& spec, model::ReplicaId id);
// Whether it is that one, or one of the role whose success together is.
bool decides_success(const model::JobSpec& spec, model::ReplicaId id);
// What is done about a failure that no rule answers.
model::Action fallback(const model::JobSpec& spec, model::ReplicaId id);

}  // namespace trainyard::engine
