#include <fmt/format.h>

#include "cli/portable.h"
#include "dialect/shared/dialect.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::cli {
namespace {

std::string_view title_of(std::string_view role) {
  if (role == "chief") return "Chief";
  if (role == "master") return "Master";
  if (role == "ps") return "PS";
  if (role == "worker") return "Worker";
  return "Evaluator";
}

std::string_view clean_pod_policy(model::Cleanup cleanup) {
  switch (cleanup) {
    case model::Cleanup::kNone:
      return "None";
    case model::Cleanup::kUnfinished:
      return "Running";
    case model::Cleanup::kAll:
      return "All";
  }
  return "";
}

json::object tfjob_run_policy(Portable& job) {
  json::object policy;
  policy["cleanPodPolicy"] = kube::jview(clean_pod_policy(job.cleanup));
  if (job.restarts_max) policy["backoffLimit"] = *job.restarts_max;
  if (job.deadline_seconds) policy["activeDeadlineSeconds"] = *job.deadline_seconds;
  if (job.ttl_seconds) policy["ttlSecondsAfterFinished"] = *job.ttl_seconds;
  if (job.paused) policy["suspend"] = true;
  if (!job.gang) return policy;
  json::object scheduling;
  if (job.gang->min_available) scheduling["minAvailable"] = *job.gang->min_available;
  if (!job.gang->queue.empty()) scheduling["queue"] = kube::jview(job.gang->queue);
  if (!job.gang->priority_class.empty()) scheduling["priorityClass"] = kube::jview(job.gang->priority_class);
  if (job.gang->priority.value_or(0) != 0) {
    job.lost.push_back(fmt::format("priority {}: TFJobs name a priority class instead", *job.gang->priority));
  }
  if (job.kind != kube::kVolcanoJobs.kind) {
    job.lost.push_back(
        "gang: name a gang scheduler to the operator, or by the annotation trainyard.dev/gang-scheduler");
  }
  if (!scheduling.empty()) policy["schedulingPolicy"] = std::move(scheduling);
  return policy;
}

}  // namespace

Result<json::object> to_tfjob(Portable& job) {
  Result<Done> named = settle_role_names(job);
  if (!named.ok()) return named.error();
  json::object roles;
  bool exit_codes_differ = false;
  for (PortableRole& role : job.roles) {
    settle_main_container(role, job.lost);
    tell_in_place(job, role, job.restarts_in_place(role));
    exit_codes_differ = exit_codes_differ || role.restart == Restart::kExitCode;
    roles[kube::jview(title_of(role.name))] =
        json::object{{"replicas", role.replicas},
                     {"restartPolicy", kube::jview(to_string(role.restart))},
                     {"template", role.pod_template}};
  }
  json::object spec;
  spec["runPolicy"] = tfjob_run_policy(job);
  if (job.all_workers) spec["successPolicy"] = "AllWorkers";
  spec["tfReplicaSpecs"] = std::move(roles);
  if (job.tensorboard) job.lost.push_back("spec.tensorboardSpec: make a TensorBoard object of its own");
  if (!job.any_failure_ends) {
    job.lost.push_back("failures: a replica that fails for good fails a TFJob, whichever it is");
  }
  if (exit_codes_differ) {
    job.lost.push_back(
        fmt::format("ExitCode: in a TFJob {}all exit codes above 128 but 139 start a replica again, not only "
                    "130, 137, 138 and 143",
                    job.mirrored ? "" : "42 and "));
  }
  json::object metadata = metadata_with_scope(job);
  if (job.gang && job.kind == kube::kVolcanoJobs.kind) {
    bool ours = job.gang->scheduler == "trainyard";
    if (!ours && job.gang->scheduler != "volcano")
      job.lost.push_back(fmt::format("spec.schedulerName {}: no counterpart", job.gang->scheduler));
    kube::ensure_object(metadata, {"annotations"})[kube::jview(dialect::kGangSchedulerAnnotation)] =
        ours ? "trainyard" : "volcano";
  }
  return json::object{{"apiVersion", kube::jview(kube::kTfJobs.api_version())},
                      {"kind", kube::jview(kube::kTfJobs.kind)},
                      {"metadata", std::move(metadata)},
                      {"spec", std::move(spec)}};
}

}  // namespace trainyard::cli
