#include <fmt/format.h>

#include <limits>

#include "cli/portable.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::cli {
namespace {

std::string_view clean_up_policy(model::Cleanup cleanup) {
  switch (cleanup) {
    case model::Cleanup::kNone:
      return "None";
    case model::Cleanup::kUnfinished:
      return "Unfinished";
    case model::Cleanup::kAll:
      return "All";
  }
  return "";
}

json::object t9k_run_policy(Portable& job) {
  json::object policy;
  policy["cleanUpPolicy"] = kube::jview(clean_up_policy(job.cleanup));
  if (job.restarts_max) {
    policy["backoffLimit"] = *job.restarts_max;
  } else if (job.restarts()) {
    policy["backoffLimit"] = std::numeric_limits<int32_t>::max();
    job.lost.push_back("no restart limit: there is always one (3 when left out), so the largest is written");
  }
  if (job.deadline_seconds) policy["activeDeadlineSeconds"] = *job.deadline_seconds;
  if (job.ttl_seconds)
    job.lost.push_back("ttlSecondsAfterFinished: no counterpart; the job stays until it is deleted");
  return policy;
}

void write_scheduler(Portable& job, json::object& spec) {
  if (!job.gang) return;
  json::object place;
  if (!job.gang->queue.empty()) place["queue"] = kube::jview(job.gang->queue);
  if (job.gang->priority) place["priority"] = *job.gang->priority;
  if (!job.gang->priority_class.empty()) {
    job.lost.push_back(
        fmt::format("priority class {}: priorities are numbers from 0 to 100", job.gang->priority_class));
  }
  const std::string& scheduler = job.gang->scheduler;
  bool implied = scheduler.empty() || (scheduler == "volcano" && job.kind == kube::kVolcanoJobs.kind) ||
                 scheduler == "t9k-scheduler";
  if (!implied)
    job.lost.push_back(fmt::format("gang scheduler {}: T9k's scheduler takes its place", scheduler));
  if (job.gang->min_available) {
    job.lost.push_back(
        fmt::format("minAvailable {}: the gang is always the whole job", *job.gang->min_available));
  }
  spec["scheduler"] = json::object{{"t9kScheduler", std::move(place)}};
}

// Pods of T9k's scheduler cannot name another one.
void drop_foreign_scheduler(PortableRole& role, std::vector<std::string>& lost) {
  json::object& pod = kube::ensure_object(role.pod_template, {"spec"});
  std::string scheduler(kube::text_at(pod, {"schedulerName"}));
  if (scheduler.empty() || scheduler == "t9k-scheduler") return;
  lost.push_back(
      fmt::format("schedulerName {} of {}: T9k's scheduler takes its place", scheduler, role.name));
  pod.erase("schedulerName");
}

// Only the main replica's failure fails the job.
void tell_who_ends_the_job(Portable& job) {
  const std::string main = job.leader() != nullptr ? "chief" : "worker";
  for (const PortableRole& role : job.roles) {
    bool is_main = &role == job.leader() || (job.leader() == nullptr && role.name == main);
    if (!role.failure_ends || role.replicas <= (is_main ? 1 : 0)) continue;
    job.lost.push_back(fmt::format(
        "failures: here the job goes on without a replica other than {} 0 that fails for good", main));
    return;
  }
}

}  // namespace

Result<json::object> to_t9k(Portable& job) {
  Result<Done> named = settle_role_names(job);
  if (!named.ok()) return named.error();
  json::array roles;
  bool exit_codes_differ = false;
  for (PortableRole& role : job.roles) {
    settle_main_container(role, job.lost);
    tell_in_place(job, role, false);
    if (job.gang) drop_foreign_scheduler(role, job.lost);
    if (role.name == "master") job.lost.push_back("role master: it is called chief");
    exit_codes_differ = exit_codes_differ || role.restart == Restart::kExitCode;
    roles.push_back(json::object{{"type", kube::jview(role.name == "master" ? "chief" : role.name)},
                                 {"replicas", role.replicas},
                                 {"restartPolicy", kube::jview(to_string(role.restart))},
                                 {"template", role.pod_template}});
  }
  if (exit_codes_differ && job.kind == kube::kTfJobs.kind) {
    job.lost.push_back(
        fmt::format("ExitCode: only {}130, 137, 138 and 143 restart a replica; in a TFJob so do {}the others "
                    "above 128 but 139",
                    job.mirrored ? "42, " : "", job.mirrored ? "" : "42 and "));
  }
  json::object spec;
  spec["runPolicy"] = t9k_run_policy(job);
  if (job.paused) spec["runMode"] = json::object{{"pause", json::object{{"enabled", true}}}};
  write_scheduler(job, spec);
  if (job.tensorboard) spec["tensorboardSpec"] = *job.tensorboard;
  spec["replicaSpecs"] = std::move(roles);
  tell_who_ends_the_job(job);
  const PortableRole* worker = job.find("worker");
  if (job.all_workers && worker != nullptr && worker->replicas > 1)
    job.lost.push_back("success of all workers: here the job succeeds when worker 0 does");
  return json::object{{"apiVersion", kube::jview(kube::kT9kJobs.api_version())},
                      {"kind", kube::jview(kube::kT9kJobs.kind)},
                      {"metadata", metadata_with_scope(job)},
                      {"spec", std::move(spec)}};
}

}  // namespace trainyard::cli
