#include "dialect/t9k/t9k.h"

#include "base/check.h"
#include "dialect/t9k/announce.h"
#include "dialect/t9k/decode.h"
#include "dialect/t9k/lower.h"
#include "dialect/t9k/project.h"
#include "dialect/t9k/render.h"

namespace trainyard::dialect {
namespace {

bool recognises(std::string_view api_version, std::string_view kind) {
  return api_version == "batch.tensorstack.dev/v1beta1" && kind == kube::kT9kJobs.kind;
}

json::object render_companion(const model::JobSpec&, const model::Companion&, const KeyPair*) {
  CHECK(!"a TensorFlowTrainingJob has no companions");
  return {};
}

}  // namespace

const Dialect& t9k() {
  static const Dialect kT9k{.name = "t9k",
                            .resource = kube::kT9kJobs,
                            .component = "tensorflowtrainingjob-controller",
                            .pod_selector = trainyard::t9k::kPodSelector,
                            .main_container = trainyard::t9k::kMainContainer,
                            .recognises = recognises,
                            .lower = trainyard::t9k::lower,
                            .validate_update = trainyard::t9k::validate_update,
                            .identify = trainyard::t9k::identify,
                            .job_name_of = trainyard::t9k::job_name_of,
                            .render_pod = trainyard::t9k::render_pod,
                            .render_service = trainyard::t9k::render_service,
                            .render_companion = render_companion,
                            .render_gang = trainyard::t9k::render_gang,
                            .render_tensorboard = trainyard::t9k::render_tensorboard,
                            .recall = trainyard::t9k::recall,
                            .project = trainyard::t9k::project,
                            .announce = trainyard::t9k::announce,
                            .project_invalid = trainyard::t9k::project_invalid};
  return kT9k;
}

}  // namespace trainyard::dialect
