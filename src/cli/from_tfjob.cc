#include <fmt/format.h>

#include "base/ascii.h"
#include "cli/portable.h"
#include "dialect/shared/dialect.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::cli {
namespace {

// The port that defaulting adds, which the other dialects have anyway.
void drop_default_port(json::object& pod_template) {
  json::array& containers = kube::ensure_array(pod_template, {"spec", "containers"});
  for (json::value& container : containers) {
    if (!container.is_object()) continue;
    json::object& body = container.get_object();
    json::value* ports = body.if_contains("ports");
    if (ports == nullptr || !ports->is_array()) continue;
    json::array kept;
    for (const json::value& port : ports->get_array()) {
      bool is_default = port.is_object() && kube::text_at(port.get_object(), {"name"}) == "tfjob-port" &&
                        kube::int_at(port.get_object(), {"containerPort"}) == 2222;
      if (!is_default) kept.push_back(port);
    }
    if (kept.empty()) {
      body.erase("ports");
    } else {
      *ports = std::move(kept);
    }
  }
}

// A TFJob asks for a gang by its scheduler's name, by a policy for it, or both.
void read_scheduling(const json::object& source, Portable& job) {
  PortableGang gang;
  gang.scheduler = kube::annotation_of(source, dialect::kGangSchedulerAnnotation);
  drop_annotation(job.metadata, dialect::kGangSchedulerAnnotation);
  if (same_but_for_case(gang.scheduler, "none")) return;
  if (!gang.scheduler.empty()) job.gang = gang;
  const json::object* policy = kube::object_at(source, {"spec", "runPolicy", "schedulingPolicy"});
  if (policy == nullptr) return;
  if (auto least = kube::int_at(*policy, {"minAvailable"})) gang.min_available = static_cast<int>(*least);
  gang.queue = kube::text_at(*policy, {"queue"});
  gang.priority_class = kube::text_at(*policy, {"priorityClass"});
  for (const char* key : {"minResources", "scheduleTimeoutSeconds"}) {
    if (policy->if_contains(key) != nullptr) {
      job.lost.push_back(fmt::format("spec.runPolicy.schedulingPolicy.{}: no counterpart", key));
    }
  }
  job.gang = gang;
}

}  // namespace

Portable from_tfjob(const model::JobSpec& spec) {
  Portable job = portable_base(spec);
  job.any_failure_ends = true;
  const json::object& source = *spec.source;
  for (const model::Role& role : spec.roles) {
    const json::object* entry = kube::object_at(source, {"spec", "tfReplicaSpecs", role.title});
    if (entry == nullptr) continue;
    PortableRole found{role.name,
                       role.replicas,
                       dialect::restart_policy_named(kube::text_at(*entry, {"restartPolicy"})),
                       {},
                       /*failure_ends=*/true};
    if (const json::object* pod_template = kube::object_at(*entry, {"template"}))
      found.pod_template = *pod_template;
    kube::ensure_object(found.pod_template, {"spec"}).erase("restartPolicy");
    drop_default_port(found.pod_template);
    found.in_place = job.restarts_in_place(found);
    job.roles.push_back(std::move(found));
  }
  job.all_workers =
      kube::text_at(source, {"spec", "successPolicy"}) == "AllWorkers" && job.leader() == nullptr;
  if (kube::bool_at(source, {"spec", "enableDynamicWorker"}).value_or(false)) {
    job.lost.push_back(
        "spec.enableDynamicWorker: no counterpart; TF_CONFIG lists every replica, and workers may not come "
        "and go");
  }
  read_scheduling(source, job);
  if (const json::object* run_policy = kube::object_at(source, {"spec", "runPolicy"})) {
    if (std::string_view manager = kube::text_at(*run_policy, {"managedBy"}); !manager.empty()) {
      job.lost.push_back(fmt::format("spec.runPolicy.managedBy ({}): no counterpart", manager));
    }
  }
  return job;
}

}  // namespace trainyard::cli
