#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/ascii.h"
#include "cli/portable.h"
#include "dialect/shared/dialect.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kOurs = "trainyard";  // reads Volcano's groups as well
constexpr std::string_view kGroupAnnotation = "scheduling.k8s.io/group-name";

std::string_view restart_action(model::Scope scope) {
  switch (scope) {
    case model::Scope::kPod:
      return "RestartPod";
    case model::Scope::kPartition:
      return "RestartPartition";
    case model::Scope::kRole:
      return "RestartTask";
    case model::Scope::kJob:
      return "RestartJob";
  }
  return "";
}

json::object on_event(std::string_view event, std::string_view action) {
  return {{"event", kube::jview(event)}, {"action", kube::jview(action)}};
}

// How the kubelet treats the containers. With a scope wider than the pod nothing may
// start again in place.
std::string_view pod_restart_policy(const Portable& job, Restart restart) {
  if (job.scope != model::Scope::kPod) return "Never";
  switch (restart) {
    case Restart::kNever:
    case Restart::kExitCode:
      return "Never";
    case Restart::kOnFailure:
      return "OnFailure";
    case Restart::kAlways:
      return "Always";
  }
  return "";
}

// Policies of one task, the most particular first.
json::array policies_of(const Portable& job, const PortableRole& role, bool decides, bool ends_job) {
  json::array policies;
  std::string_view again = restart_action(job.scope);
  if (role.restart == Restart::kExitCode) {
    for (int code : {42, 130, 137, 138, 143}) {
      if (code == 42 && job.kind != kube::kTfJobs.kind && !job.mirrored) continue;
      policies.push_back(json::object{{"exitCode", code}, {"action", kube::jview(again)}});
    }
  }
  if (role.restart != Restart::kNever) policies.push_back(on_event("PodEvicted", again));
  bool by_hand = job.scope != model::Scope::kPod &&
                 (role.restart == Restart::kOnFailure || role.restart == Restart::kAlways);
  if (by_hand) {
    policies.push_back(on_event("PodFailed", again));
  } else if (ends_job) {
    policies.push_back(on_event("PodFailed", "TerminateJob"));
  }
  if (decides) policies.push_back(on_event("TaskCompleted", "CompleteJob"));
  return policies;
}

// A gang of the user's own and another scheduler make way: Volcano makes its own.
void drop_foreign_gang(PortableRole& role, std::vector<std::string>& lost) {
  json::object& pod = kube::ensure_object(role.pod_template, {"spec"});
  if (std::string scheduler(kube::text_at(pod, {"schedulerName"}));
      !scheduler.empty() && scheduler != "volcano") {
    lost.push_back(fmt::format("schedulerName {} of {}: Volcano takes its place", scheduler, role.name));
    pod.erase("schedulerName");
  }
  std::string group(kube::text_at(role.pod_template, {"metadata", "annotations", kGroupAnnotation}));
  if (group.empty()) return;
  lost.push_back(fmt::format("PodGroup {} of {}: Volcano makes one for the job", group, role.name));
  json::object& metadata = kube::ensure_object(role.pod_template, {"metadata"});
  json::object& annotations = kube::ensure_object(metadata, {"annotations"});
  annotations.erase(kube::jview(kGroupAnnotation));
  if (annotations.empty()) metadata.erase("annotations");
  if (metadata.empty()) role.pod_template.erase("metadata");
}

// The port of the role's TensorFlow server.
int port_of(const PortableRole& role) {
  const json::array* containers = kube::array_at(role.pod_template, {"spec", "containers"});
  for (size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    const json::object* container = (*containers)[i].if_object();
    const json::array* ports = container == nullptr ? nullptr : kube::array_at(*container, {"ports"});
    for (size_t j = 0; ports != nullptr && j < ports->size(); ++j) {
      const json::object* port = (*ports)[j].if_object();
      if (port != nullptr && kube::text_at(*port, {"name"}) == "tfjob-port") {
        return static_cast<int>(kube::int_at(*port, {"containerPort"}).value_or(2222));
      }
    }
  }
  return 2222;
}

json::object plugins_of(Portable& job) {
  json::array arguments;
  std::vector<int> ports;
  for (const PortableRole& role : job.roles) {
    std::string_view flag = role.name == "master" ? "chief" : std::string_view(role.name);
    arguments.push_back(json::value(kube::jview(fmt::format("--{}={}", flag, role.name))));
    ports.push_back(port_of(role));
  }
  if (!ports.empty() && ports[0] != 2222)
    arguments.push_back(json::value(kube::jview(fmt::format("--port={}", ports[0]))));
  if (std::adjacent_find(ports.begin(), ports.end(), std::not_equal_to<>()) != ports.end()) {
    job.lost.push_back(fmt::format("ports: the plugin knows one for all roles, which is {}", ports[0]));
  }
  return {{"env", json::array()}, {"svc", json::array()}, {"tensorflow", std::move(arguments)}};
}

void write_limits(Portable& job, json::object& spec) {
  if (job.restarts_max) {
    int tries =
        *job.restarts_max == std::numeric_limits<int>::max() ? *job.restarts_max : *job.restarts_max + 1;
    spec["maxRetry"] = tries;  // the first run counts as one
  } else if (job.restarts()) {
    spec["maxRetry"] = std::numeric_limits<int32_t>::max();
    job.lost.push_back("no restart limit: there is always one (3 when left out), so the largest is written");
  }
  if (job.ttl_seconds) spec["ttlSecondsAfterFinished"] = *job.ttl_seconds;
  if (job.deadline_seconds) {
    job.lost.push_back(fmt::format("activeDeadlineSeconds {}: no counterpart", *job.deadline_seconds));
  }
}

void tell_restarts(Portable& job) {
  auto any_role = [&](auto&& matches) { return std::any_of(job.roles.begin(), job.roles.end(), matches); };
  bool alone = job.scope == model::Scope::kPod;
  bool in_place = any_role([&](const PortableRole& role) {
    return alone && (role.restart == Restart::kOnFailure || role.restart == Restart::kAlways);
  });
  if (in_place)
    job.lost.push_back("restarts in place: maxRetry does not count what the node restarts in a pod");
  if (job.restarts_max && job.restarts())
    job.lost.push_back("evictions: Volcano's controller counts them against maxRetry; they were free before");
  if (!alone && any_role([](const PortableRole& role) { return role.restart == Restart::kAlways; }))
    job.lost.push_back("Always: a replica that ends well is not started again");
  bool by_code = any_role([](const PortableRole& role) { return role.restart == Restart::kExitCode; });
  if (by_code && job.kind == kube::kTfJobs.kind) {
    job.lost.push_back(
        "ExitCode: the documented codes and 42 are written out; in a TFJob all above 128 but 139 restart");
  }
}

void tell_gang(Portable& job, int total) {
  if (!job.gang) {
    if (total > 1) job.lost.push_back("gang: the pods of a Volcano Job start together or not at all");
    return;
  }
  const std::string& scheduler = job.gang->scheduler;
  if (!scheduler.empty() && !same_but_for_case(scheduler, "volcano") && scheduler != kOurs)
    job.lost.push_back(fmt::format("gang scheduler {}: Volcano takes its place", scheduler));
  if (job.gang->min_available.value_or(0) > total)
    job.lost.push_back(fmt::format("minAvailable {}: at most the {} replicas that there are",
                                   *job.gang->min_available, total));
  if (job.gang->priority.value_or(0) != 0) {
    job.lost.push_back(
        fmt::format("priority {}: Volcano names a priority class instead", *job.gang->priority));
  }
}

// What every job loses on the way, and what this one does.
void tell_losses(Portable& job, int total) {
  if (job.paused)
    job.lost.push_back("suspended: no field for it; a Command with AbortJob stops a Volcano job");
  if (job.cleanup != model::Cleanup::kUnfinished) {
    job.lost.push_back(
        fmt::format("clean-up {}: Volcano always deletes what still runs and keeps what has ended",
                    job.cleanup == model::Cleanup::kAll ? "All" : "None"));
  }
  if (job.tensorboard) job.lost.push_back("spec.tensorboardSpec: make a TensorBoard object of its own");
  if (job.find("master") != nullptr) job.lost.push_back("role master: TF_CONFIG calls it chief");
  if (job.runs("evaluator")) {
    job.lost.push_back(
        "evaluator: Volcano's plugin lists it in the cluster in TF_CONFIG, where a chief of a "
        "ParameterServerStrategy waits for it");
  }
  tell_gang(job, total);
  tell_restarts(job);
  job.lost.push_back("failure: a job that ends because a replica failed is Terminated, not Failed");
  const PortableRole* worker = job.find("worker");
  const bool worker_0_decides = job.leader() == nullptr && worker != nullptr && worker->replicas > 1;
  const bool may_fail =
      worker != nullptr && (worker->restart == Restart::kNever || worker->restart == Restart::kExitCode);
  if (worker_0_decides && may_fail && !job.any_failure_ends) {
    job.lost.push_back("failures: here any worker that fails for good ends the job, not only worker 0");
  }
  if (worker_0_decides && !job.all_workers) {
    job.lost.push_back("success of worker 0: here the job is complete when all workers are");
  }
}

}  // namespace

Result<json::object> to_volcano(Portable& job) {
  std::string main = job.leader() != nullptr ? job.leader()->name : "worker";
  json::array tasks;
  int total = 0;
  for (PortableRole& role : job.roles) {
    drop_foreign_gang(role, job.lost);
    kube::ensure_object(role.pod_template, {"spec"})["restartPolicy"] =
        kube::jview(pod_restart_policy(job, role.restart));
    tell_in_place(job, role, job.restarts_in_place(role));
    bool is_main = role.name == main;
    json::object task{{"name", kube::jview(role.name)}, {"replicas", role.replicas}};
    json::array policies = policies_of(job, role, is_main, job.any_failure_ends || is_main);
    if (!policies.empty()) task["policies"] = std::move(policies);
    task["template"] = role.pod_template;
    tasks.push_back(std::move(task));
    total += role.replicas;
  }
  json::object spec;
  spec["schedulerName"] = kube::jview(job.gang && job.gang->scheduler == kOurs ? kOurs : "volcano");
  spec["minAvailable"] =
      job.gang && job.gang->min_available ? std::min(*job.gang->min_available, total) : total;
  if (job.gang && !job.gang->queue.empty()) spec["queue"] = kube::jview(job.gang->queue);
  if (job.gang && !job.gang->priority_class.empty())
    spec["priorityClassName"] = kube::jview(job.gang->priority_class);
  write_limits(job, spec);
  spec["plugins"] = plugins_of(job);
  spec["tasks"] = std::move(tasks);
  tell_losses(job, total);
  json::object metadata = job.metadata;
  drop_annotation(metadata, dialect::kRestartScopeAnnotation);  // the policies say it now
  return json::object{{"apiVersion", kube::jview(kube::kVolcanoJobs.api_version())},
                      {"kind", kube::jview(kube::kVolcanoJobs.kind)},
                      {"metadata", std::move(metadata)},
                      {"spec", std::move(spec)}};
}

}  // namespace trainyard::cli
