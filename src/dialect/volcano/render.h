// The objects of a Volcano Job as they are sent: pods, the companions of plugins and
// volumes, the PodGroup. Pure; REQUIRES: spec came out of lower().
#pragma once

#include <optional>
#include <string>

#include "dialect/shared/dialect.h"
#include "kube/json.h"
#include "model/job_spec.h"

namespace trainyard::dialect::vc {

json::object render_pod(const model::JobSpec& job, const Settings& settings, const PodContext& context);
json::object render_companion(const model::JobSpec& job, const model::Companion& companion,
                              const KeyPair* keys);
json::object render_gang(const model::JobSpec& job);

std::optional<PodIdentity> identify(const json::object& pod);
std::string job_name_of(const json::object& object);

}  // namespace trainyard::dialect::vc
