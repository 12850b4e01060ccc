// LifecyclePolicies: "on this event, or exit code, do that". Decoded with every problem
// told, and lowered to the engine's rules. Pure.
//
// Order: a task's own policies first, then the job's; the first that matches decides,
// whether it matched by event or by exit code. A failure that none matches is only noted;
// a pod that was evicted, preempted or lost with its node is started again, as it is when
// somebody deletes it.
//
// The annotation trainyard.dev/restart-scope widens restarts: every RestartPod,
// RestartPartition or RestartTask whose scope is narrower than the annotation's takes
// the annotation's; one that is wider stays as it is.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "dialect/shared/reader.h"
#include "dialect/volcano/spec.h"
#include "model/job_spec.h"

namespace trainyard::dialect::vc {

// The policies at `owner`.policies. `has_partitions`: whether RestartPartition means anything here.
std::vector<Policy> decode_policies(const Reader& owner, bool has_partitions);

// The rules of one task. REQUIRES: the spec passed validation.
std::vector<model::Rule> rules_of(const Spec& spec, const Task& task,
                                  std::optional<model::Scope> least_scope);

// What is accepted and never does anything, for a warning.
std::vector<model::Advice> advice_on_policies(const Spec& spec);

// "RestartJob" and its kind; nullopt for words that are none of a user's.
std::optional<model::Action> action_named(std::string_view word);
std::string_view name_of(const model::Action& action);

}  // namespace trainyard::dialect::vc
