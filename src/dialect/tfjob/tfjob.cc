#include "dialect/tfjob/tfjob.h"

#include "base/check.h"
#include "dialect/tfjob/announce.h"
#include "dialect/tfjob/job_service.h"
#include "dialect/tfjob/lower.h"
#include "dialect/tfjob/project.h"
#include "dialect/tfjob/render.h"
#include "dialect/tfjob/spec.h"

namespace trainyard::dialect {
namespace {

bool recognises(std::string_view api_version, std::string_view kind) {
  if (kind != "TFJob") return false;
  for (std::string_view ours : {"kubeflow.org/v1", "kubeflow.org/v1beta2", "kubeflow.org/v1beta1",
                                "kubeflow.org/v1alpha2", "kubeflow.org/v1alpha1"}) {
    if (api_version == ours) return true;
  }
  return false;
}

// The one companion that a TFJob may have.
json::object render_companion(const model::JobSpec& spec, const model::Companion& companion, const KeyPair*) {
  CHECK(companion.kind == model::CompanionKind::kService);
  return tf::render_job_service(spec);
}

// A TFJob has no TensorBoard, so nobody may ask for one.
json::object no_tensorboard(const model::JobSpec&) {
  CHECK(false);
  return {};
}

// An invalid TFJob has no status: its users look for the event instead.
json::object no_invalid_status(const json::object&, const std::vector<Problem>&, Time) { return {}; }

}  // namespace

const Dialect& tfjob() {
  static const Dialect kTfJob{
      .name = "tfjob",
      .resource = kube::kTfJobs,
      .component = tf::kOperatorName,
      .pod_selector = "training.kubeflow.org/operator-name=tfjob-controller",
      .main_container = tf::kTfContainer,
      .recognises = recognises,
      .lower = tf::lower_tfjob,
      .validate_update = tf::validate_tfjob_update,
      .identify = tf::identify_tf_pod,
      .job_name_of = tf::tf_job_name_of,
      .render_pod = tf::render_tf_pod,
      .render_service = tf::render_tf_service,
      .render_companion = render_companion,
      .render_gang = tf::render_tf_gang,
      .render_tensorboard = no_tensorboard,
      .recall = tf::recall_tfjob,
      .project = tf::project_tfjob,
      .announce = tf::announce_tfjob,
      .project_invalid = no_invalid_status,
  };
  return kTfJob;
}

}  // namespace trainyard::dialect
