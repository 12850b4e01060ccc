// The objects of a TFJob as they are sent: pods, services, the PodGroup; and back from a
// pod to the replica it is. Pure.
#pragma once

#include "dialect/shared/dialect.h"

namespace trainyard::dialect::tf {

inline constexpr std::string_view kOperatorNameLabel = "training.kubeflow.org/operator-name";
inline constexpr std::string_view kJobNameLabel = "training.kubeflow.org/job-name";
inline constexpr std::string_view kReplicaTypeLabel = "training.kubeflow.org/replica-type";
inline constexpr std::string_view kReplicaIndexLabel = "training.kubeflow.org/replica-index";
inline constexpr std::string_view kJobRoleLabel = "training.kubeflow.org/job-role";
inline constexpr std::string_view kOperatorName = "tfjob-controller";

json::object render_tf_pod(const model::JobSpec& spec, const Settings& settings, const PodContext& context);
json::object render_tf_service(const model::JobSpec& spec, model::ReplicaId id);
// REQUIRES: the spec has a gang.
json::object render_tf_gang(const model::JobSpec& spec);

std::optional<PodIdentity> identify_tf_pod(const json::object& pod);
std::string tf_job_name_of(const json::object& pod_or_service);

}  // namespace trainyard::dialect::tf
