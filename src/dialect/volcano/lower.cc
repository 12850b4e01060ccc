#include "dialect/volcano/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "dialect/shared/template.h"
#include "dialect/volcano/claims.h"
#include "dialect/volcano/decode.h"
#include "dialect/volcano/defaults.h"
#include "dialect/volcano/keys.h"
#include "dialect/volcano/min_resources.h"
#include "dialect/volcano/plugin_ssh.h"
#include "dialect/volcano/plugin_svc.h"
#include "dialect/volcano/policies.h"
#include "dialect/volcano/validate.h"
#include "kube/meta.h"

namespace trainyard::dialect::vc {
namespace {

model::Role lower_task(const Spec& spec, const Task& task, std::optional<model::Scope> least_scope) {
  model::Role role;
  role.name = task.name;
  role.title = task.name;
  role.replicas = task.replicas;
  role.rules = rules_of(spec, task, least_scope);
  role.otherwise = {model::ActionKind::kNone, model::Scope::kPod};
  role.min_available = task.min_available;
  role.has_min_available = true;  // defaulting has filled it in
  role.partition_size = task.partitions ? task.partitions->size : 0;
  role.container_restarts_max = task.max_retry;
  for (const std::string& name : task.depends_on) {
    for (size_t i = 0; i < spec.tasks.size(); ++i) {
      if (spec.tasks[i].name == name) role.depends_on.roles.push_back(static_cast<int>(i));
    }
  }
  role.depends_on.any = task.depends_on_any && task.depends_on.size() > 1;
  return role;
}

// The tasks whose pods are made at once.
int replicas_that_wait_for_nobody(const Spec& spec) {
  int total = 0;
  for (const Task& task : spec.tasks) total += task.depends_on.empty() ? task.replicas : 0;
  return total;
}

model::Gang lower_gang(const Spec& spec) {
  model::Gang gang;
  gang.scheduler = model::GangScheduler::kVolcano;
  gang.name = spec.uid.empty() ? spec.name : fmt::format("{}-{}", spec.name, spec.uid);
  gang.owned = true;
  gang.gates_pods = true;
  if (spec.scheduler_name != kDefaultScheduler) gang.placed_by = spec.scheduler_name;
  gang.min_member = spec.min_available;
  for (const Task& task : spec.tasks) gang.min_per_role[task.name] = task.min_available;
  int at_once = replicas_that_wait_for_nobody(spec);
  if (gang.min_member > at_once) {
    Spec first = spec;
    std::erase_if(first.tasks, [](const Task& task) { return !task.depends_on.empty(); });
    gang.min_member = at_once;
    gang.min_resources = min_resources(first, at_once);
    for (const Task& task : spec.tasks) {
      if (!task.depends_on.empty()) gang.min_per_role[task.name] = 0;
    }
  } else {
    gang.min_resources = min_resources(spec, gang.min_member);
  }
  gang.queue = spec.queue;
  gang.priority_class = spec.priority_class;
  return gang;
}

std::vector<model::Companion> companions_of(const Spec& spec) {
  std::vector<model::Companion> all = claim_companions(spec);
  if (spec.plugins.svc) {
    std::vector<model::Companion> of_svc = svc_companions(*spec.plugins.svc, spec);
    all.insert(all.end(), of_svc.begin(), of_svc.end());
  }
  if (spec.plugins.ssh) all.push_back(ssh_companion(spec));
  std::sort(all.begin(), all.end(), [](const model::Companion& a, const model::Companion& b) {
    return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
  });
  return all;
}

std::vector<model::Advice> advice_of(const Spec& spec, const model::Gang& gang) {
  std::vector<model::Advice> advice = advice_on_policies(spec);
  if (gang.min_member < spec.min_available) {
    advice.push_back(
        {"GangWaitsForItself",
         fmt::format("minAvailable {} counts tasks that wait for others (dependsOn), which could never "
                     "start; the gang is let in with {}",
                     spec.min_available, gang.min_member)});
  }
  return advice;
}

// What the annotations that are ours ask for.
struct Wishes {
  std::optional<model::Scope> least_scope;
  bool holds_deletion = false;
};

model::JobSpec lower_spec(const Spec& spec, const Wishes& wishes,
                          std::shared_ptr<const json::object> source) {
  model::JobSpec job;
  job.dialect = "volcano";
  job.name_space = spec.name_space;
  job.name = spec.name;
  job.uid = spec.uid;
  job.generation = kube::generation_of(*source);
  job.pod_prefix = spec.name;
  for (const Task& task : spec.tasks) job.roles.push_back(lower_task(spec, task, wishes.least_scope));
  job.success = model::Tally{.min_success = spec.min_success,
                             .min_available = spec.min_available,
                             .per_role = spec.min_available >= spec.total_min_available()};
  job.running_min = spec.min_available;
  job.budget.restarts_max = spec.max_retry - 1;
  job.cleanup = model::Cleanup::kUnfinished;
  job.pause.keeps_finished = true;
  if (spec.ttl_seconds) job.ttl_after_finished = seconds(*spec.ttl_seconds);
  job.gang = lower_gang(spec);
  job.service_per_replica = false;
  job.companions = companions_of(spec);
  job.holds_deletion = wishes.holds_deletion;
  job.tells_replica_endings = false;
  job.advice = advice_of(spec, *job.gang);
  job.source = std::move(source);
  return job;
}

}  // namespace

LowerResult lower(const json::object& object, const Settings&) {
  std::vector<Problem> problems;
  auto source = std::make_shared<const json::object>(with_defaults(object));
  Reader root = Reader::root(*source, problems);
  auto reading = std::make_shared<const Spec>(decode(root));
  const Spec& spec = *reading;
  validate(root, spec);
  Wishes wishes{.least_scope = restart_scope(root), .holds_deletion = holds_deletion(root)};
  if (!problems.empty()) return problems;
  model::JobSpec job = lower_spec(spec, wishes, source);
  job.reading = std::move(reading);
  return job;
}

}  // namespace trainyard::dialect::vc
