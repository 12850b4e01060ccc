#include "dialect/tfjob/advice.h"

#include <fmt/format.h>

#include "kube/access.h"

namespace trainyard::dialect::tf {
namespace {

void say_policy_overwritten(const TfJob& job, std::vector<model::Advice>& advice) {
  for (const TfReplicas& one : job.replicas) {
    if (!one.overwrites_template_policy) continue;
    advice.push_back(
        {"SettedPodTemplateRestartPolicy",
         "Restart policy in pod template will be overwritten by restart policy in replica spec"});
    return;
  }
}

void say_other_scheduler(const TfJob& job, std::string_view scheduler, std::vector<model::Advice>& advice) {
  if (scheduler.empty()) return;
  for (const TfReplicas& one : job.replicas) {
    std::string_view named = kube::text_at(one.pod_template, {"spec", "schedulerName"});
    if (named.empty() || named == scheduler) continue;
    advice.push_back(
        {"SettedPodTemplateSchedulerName",
         "Another scheduler is specified when gang-scheduling is enabled and it will not be overwritten"});
    return;
  }
}

// With a wider restart scope it is we who restart, and not the replicas whose success is the job's.
void say_never_ends(const TfJob& job, std::vector<model::Advice>& advice) {
  const bool in_place = job.restart_scope.value_or(model::Scope::kPod) == model::Scope::kPod;
  for (TfRole role : {TfRole::kChief, TfRole::kMaster, TfRole::kWorker}) {
    const TfReplicas* deciding = job.find(role);
    if (deciding == nullptr) continue;
    if (in_place && deciding->restart_policy == RestartPolicy::kAlways) {
      advice.push_back(
          {"TFJobNeverEnds",
           fmt::format("The {} is restarted whenever it ends (restartPolicy Always), so the job {}",
                       title_of(role),
                       job.backoff_limit ? "ends only by failing, once backoffLimit is spent"
                                         : "never ends by itself")});
    }
    return;
  }
  advice.push_back(
      {"TFJobNeverEnds",
       "The job has neither a chief nor a master nor workers, so nothing decides when it has succeeded "
       "and it never ends by itself"});
}

void say_host_ports(const TfJob& job, std::vector<model::Advice>& advice) {
  int on_host = 0;
  for (const TfReplicas& one : job.replicas) {
    if (kube::bool_at(one.pod_template, {"spec", "hostNetwork"}) == true) on_host += one.replicas;
  }
  if (on_host < 2) return;
  advice.push_back(
      {"HostNetworkPorts",
       fmt::format("{} replicas use the node's own network: two of them with the same port cannot run on "
                   "one node",
                   on_host)});
}

// Where pods hold nodes while they wait for the others it says when they give them back.
void say_no_timeout(const TfJob& job, const std::optional<model::Gang>& gang,
                    std::vector<model::Advice>& advice) {
  if (!job.scheduling.timeout_seconds || !gang || !gang->owned || gang->timeout_seconds) return;
  advice.push_back(
      {"ScheduleTimeoutIgnored",
       fmt::format(
           "scheduleTimeoutSeconds {} has no effect: only PodGroups of scheduler-plugins have it. Pods of "
           "this gang hold no nodes while they wait for one another, and wait until there is room",
           *job.scheduling.timeout_seconds)});
}

// It would wait for pods that nobody makes.
void say_too_large(const TfJob& job, const std::optional<model::Gang>& gang,
                   std::vector<model::Advice>& advice) {
  const int least = job.scheduling.min_available.value_or(0);
  const int total = job.total_replicas();
  if (!gang || !gang->owned || least <= total) return;
  advice.push_back(
      {"GangTooLarge",
       fmt::format("minAvailable {} is more than all replicas together: the gang is let in with {}", least,
                   total)});
}

}  // namespace

std::vector<model::Advice> advice_for(const TfJob& job, std::string_view scheduler,
                                      const std::optional<model::Gang>& gang) {
  std::vector<model::Advice> advice;
  say_policy_overwritten(job, advice);
  say_other_scheduler(job, scheduler, advice);
  say_never_ends(job, advice);
  say_host_ports(job, advice);
  say_no_timeout(job, gang, advice);
  say_too_large(job, gang, advice);
  return advice;
}

}  // namespace trainyard::dialect::tf
