#include "dialect/volcano/volcano.h"

#include "base/check.h"
#include "dialect/volcano/announce.h"
#include "dialect/volcano/commands.h"
#include "dialect/volcano/keys.h"
#include "dialect/volcano/lower.h"
#include "dialect/volcano/project.h"
#include "dialect/volcano/render.h"
#include "dialect/volcano/update.h"

namespace trainyard::dialect {
namespace {

bool recognises(std::string_view api_version, std::string_view kind) {
  return api_version == "batch.volcano.sh/v1alpha1" && kind == "Job";
}

// Lowered specs have service_per_replica off and no TensorBoard.
json::object no_service(const model::JobSpec&, model::ReplicaId) {
  CHECK(false);
  return {};
}
json::object no_tensorboard(const model::JobSpec&) {
  CHECK(false);
  return {};
}

}  // namespace

const Dialect& volcano() {
  static constexpr Dialect kDialect{
      .name = "volcano",
      .resource = kube::kVolcanoJobs,
      .component = "vc-controller-manager",
      .pod_selector = vc::kJobName,
      .main_container = "",
      .recognises = recognises,
      .lower = vc::lower,
      .validate_update = vc::validate_update,
      .identify = vc::identify,
      .job_name_of = vc::job_name_of,
      .render_pod = vc::render_pod,
      .render_service = no_service,
      .render_companion = vc::render_companion,
      .render_gang = vc::render_gang,
      .render_tensorboard = no_tensorboard,
      .recall = vc::recall,
      .project = vc::project,
      .announce = vc::announce,
      .project_invalid = vc::project_invalid,
      .see_command = vc::see_command,
  };
  return kDialect;
}

}  // namespace trainyard::dialect
