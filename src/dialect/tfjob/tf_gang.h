// The gang of a TFJob: which scheduler, which PodGroup, how many pods. Pure.
#pragma once

#include <optional>
#include <string>

#include "dialect/shared/dialect.h"
#include "dialect/tfjob/spec.h"

namespace trainyard::dialect::tf {

inline constexpr std::string_view kGroupNameAnnotation = "scheduling.k8s.io/group-name";

// The scheduler that places this job's pods together: the job's own annotation, else what
// the cluster is set to; "" for none. "none" in the annotation switches it off for the job.
std::string gang_scheduler_of(const json::object& job, const Settings& settings);

// nullopt when the job has no gang. A group that the templates name is the user's own.
std::optional<model::Gang> gang_of(const TfJob& job, const std::string& scheduler);

}  // namespace trainyard::dialect::tf
