#include "dialect/tfjob/job_service.h"

#include "base/hash.h"
#include "dialect/tfjob/render.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/objects.h"

namespace trainyard::dialect::tf {

json::object render_job_service(const model::JobSpec& spec) {
  kube::NewMeta meta{.name = spec.name, .ns = spec.name_space};
  if (!spec.uid.empty()) {
    meta.owner = kube::owner_reference(kube::kTfJobs.api_version(), kube::kTfJobs.kind, spec.name, spec.uid);
  }
  kube::Pairs selector = {{std::string(kJobNameLabel), spec.name},
                          {std::string(kOperatorNameLabel), std::string(kOperatorName)}};
  // Names resolve to pods at any port; replicas look for one another before they are ready.
  return kube::headless_service(meta, selector, {}, true);
}

model::Companion job_service(const model::JobSpec& spec) {
  model::JobSpec ownerless = spec;
  ownerless.uid.clear();
  return {model::CompanionKind::kService, spec.name, fnv1a(json::serialize(render_job_service(ownerless)))};
}

void name_host(json::object& pod, const model::JobSpec& spec, model::ReplicaId id) {
  json::object& body = kube::ensure_object(pod, {"spec"});
  body["hostname"] = spec.pod_name(id);
  body["subdomain"] = spec.name;
}

}  // namespace trainyard::dialect::tf
