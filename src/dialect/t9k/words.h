// The sentences of a TensorFlowTrainingJob's conditions and events, where they are made
// of data. Pure. Those that T9k's own documents show are literal; the rest follow their form.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "model/job_spec.h"
#include "model/job_state.h"

namespace trainyard::t9k {

inline constexpr std::string_view kNothingToSay = "-";  // as a reason
inline constexpr std::string_view kInitializedText = "The job has been initialized successfully.";
inline constexpr std::string_view kSucceededText = "The job has finished successfully.";

// "Pod[train-5b373-worker-1] exited with error code 127".
std::string replica_failure(const model::JobSpec& spec, const model::Cause& cause);

// "TensorFlowTrainingJob train has failed: train-5b373-chief-0 failed with exit code 1".
std::string job_failure(const model::JobSpec& spec, const model::Cause& cause);

// "2024-08-02 07:03:59.69 UTC".
std::string spoken_time(Time time);

}  // namespace trainyard::t9k
