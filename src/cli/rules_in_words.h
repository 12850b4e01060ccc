// The rules of a job as sentences for a person, from the data that the engine decides
// on: what is said here is what will be done. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/job_spec.h"

namespace trainyard::cli {

// "exit code 42, 129 to 138 or 140 to 255: the pod is started again": one per rule, the
// last for what no rule answers.
std::vector<std::string> replica_rules(const model::JobSpec& spec, const model::Role& role);

// A subject and what holds for it: {"Success", "when chief-0 ends with exit code 0"}.
struct JobRule {
  std::string subject;
  std::string text;
};

// Success, restarts, clean-up, deadlines, pause, dependencies: those that apply.
std::vector<JobRule> job_rules(const model::JobSpec& spec);

// The gang in one sentence; "" when there is none.
std::string gang_in_words(const model::JobSpec& spec);

// "ConfigMap".
std::string_view kind_title(model::CompanionKind kind);

// "chief-0".
std::string replica_label(const model::JobSpec& spec, model::ReplicaId id);

}  // namespace trainyard::cli
