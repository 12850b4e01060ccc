// render: the children of a TensorFlowTrainingJob as they are sent: pods, a headless
// service per replica, the PodGroup, the TensorBoard. Pure; a function of the spec and of
// what the state says about attempts and resumes.
//
// REQUIRES: a spec that t9k::lower made; ids within its roles.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dialect/shared/dialect.h"

namespace trainyard::t9k {

inline constexpr std::string_view kOwnerLabel = "tensorstack.dev/owner-name";
inline constexpr std::string_view kTypeLabel = "replica-type";
inline constexpr std::string_view kIndexLabel = "replica-index";
inline constexpr std::string_view kPodSelector = "tensorstack.dev/component=tensorflowtrainingjob";

json::object render_pod(const model::JobSpec& spec, const dialect::Settings& settings,
                        const dialect::PodContext& context);
json::object render_service(const model::JobSpec& spec, model::ReplicaId id);
// REQUIRES: spec.gang.
json::object render_gang(const model::JobSpec& spec);
// REQUIRES: spec.tensorboard.
json::object render_tensorboard(const model::JobSpec& spec);

std::optional<dialect::PodIdentity> identify(const json::object& pod);
std::string job_name_of(const json::object& pod_or_service);

}  // namespace trainyard::t9k
