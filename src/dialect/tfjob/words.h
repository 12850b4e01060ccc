// The sentences of TFJob conditions and events, exactly as Kubeflow's users know them. Pure.
#pragma once

#include <string>

#include "model/job_spec.h"
#include "model/job_state.h"

namespace trainyard::dialect::tf {

std::string created_text(const model::JobSpec& spec);
std::string running_text(const model::JobSpec& spec);
std::string restarting_text(const model::JobSpec& spec, const model::Cause& cause);
std::string succeeded_text(const model::JobSpec& spec);
std::string failed_text(const model::JobSpec& spec, const model::Cause& cause);
std::string suspended_text(const model::JobSpec& spec);
std::string resumed_text(const model::JobSpec& spec);

}  // namespace trainyard::dialect::tf
