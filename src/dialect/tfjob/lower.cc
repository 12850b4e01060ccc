#include "dialect/tfjob/lower.h"

#include "dialect/tfjob/advice.h"
#include "dialect/tfjob/decode.h"
#include "dialect/tfjob/job_service.h"
#include "dialect/tfjob/restart_rules.h"
#include "dialect/tfjob/tf_gang.h"
#include "kube/access.h"

namespace trainyard::dialect::tf {
namespace {

model::SuccessRule success_of(const TfJob& job) {
  int at = 0;
  std::optional<int> worker;
  for (const TfReplicas& one : job.replicas) {
    if (one.role == TfRole::kChief || one.role == TfRole::kMaster) return model::WholeRole{at};
    if (one.role == TfRole::kWorker) worker = at;
    ++at;
  }
  if (!worker) return model::NoSuccess{};
  if (job.all_workers) return model::WholeRole{*worker};
  return model::MainReplica{.id = {*worker, 0}, .or_all = true};
}

model::Role role_of(const TfJob& job, const TfReplicas& replicas) {
  model::Role role;
  role.name = name_of(replicas.role);
  role.title = title_of(replicas.role);
  role.replicas = replicas.replicas;
  bool tolerates = job.dynamic_worker && replicas.role == TfRole::kWorker;
  set_restart_rules(replicas, job.restart_scope.value_or(model::Scope::kPod), tolerates, role);
  return role;
}

std::optional<Duration> lasting(std::optional<int64_t> count) {
  if (!count) return std::nullopt;
  return seconds(*count);
}

model::JobSpec lower_valid(const json::object& object, TfJob&& job, const Settings& settings) {
  std::string scheduler = gang_scheduler_of(object, settings);
  model::JobSpec spec;
  spec.dialect = "tfjob";
  spec.name_space = job.name_space;
  spec.name = job.name;
  spec.uid = kube::uid_of(object);
  spec.generation = kube::generation_of(object);
  spec.pod_prefix = job.name;
  for (const TfReplicas& replicas : job.replicas) spec.roles.push_back(role_of(job, replicas));
  spec.success = success_of(job);
  spec.running_min = spec.total_replicas();
  spec.budget.restarts_max = job.backoff_limit;
  spec.cleanup = job.cleanup;
  spec.mode = job.suspend ? model::RunMode::kPause : model::RunMode::kRun;
  spec.active_deadline = lasting(job.active_deadline_seconds);
  spec.ttl_after_finished = lasting(job.ttl_seconds);
  spec.gang = gang_of(job, scheduler);
  spec.managed = job.managed;
  spec.holds_deletion = job.holds_deletion;
  spec.advice = advice_for(job, scheduler, spec.gang);
  spec.source = std::make_shared<const json::object>(normal_form(object, std::move(job)));
  if (settings.one_service_per_job) {
    spec.service_per_replica = false;
    spec.companions.push_back(job_service(spec));
  }
  return spec;
}

}  // namespace

LowerResult lower_tfjob(const json::object& object, const Settings& settings) {
  std::vector<Problem> problems;
  TfJob job = decode_tfjob(object, settings, problems);
  if (!problems.empty()) return problems;
  return lower_valid(object, std::move(job), settings);
}

std::vector<Problem> validate_tfjob_update(const json::object& before, const json::object& after) {
  std::vector<Problem> problems;
  auto at = [](const json::object& object, std::initializer_list<std::string_view> path) {
    const json::value* found = kube::find(object, path);
    return found == nullptr ? json::value() : *found;
  };
  json::value manager = at(after, {"spec", "runPolicy", "managedBy"});
  if (manager != at(before, {"spec", "runPolicy", "managedBy"})) {
    problems.push_back(
        {"spec.runPolicy.managedBy", ProblemKind::kInvalid, json::serialize(manager), "field is immutable"});
  }
  json::value queue = at(after, {"spec", "runPolicy", "schedulingPolicy", "queue"});
  json::value queue_before = at(before, {"spec", "runPolicy", "schedulingPolicy", "queue"});
  if (!queue.is_null() && !queue_before.is_null() && queue != queue_before) {
    problems.push_back({"spec.runPolicy.schedulingPolicy.queue", ProblemKind::kInvalid,
                        json::serialize(queue), "spec.runPolicy.schedulingPolicy.queue is immutable"});
  }
  return problems;
}

}  // namespace trainyard::dialect::tf
