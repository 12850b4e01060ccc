#include "dialect/t9k/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "dialect/t9k/decode.h"
#include "dialect/t9k/name.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::t9k {
namespace {

using dialect::Problem;
using dialect::ProblemKind;
using model::Action;
using model::ActionKind;
using model::ExitRange;
using model::Rule;
using model::Trigger;

// A deadline further away than this is never reached; times stay far from overflowing.
constexpr int64_t kDeadlineSecondsMax = int64_t{100} * 366 * 24 * 3600;

// What is done to a replica rather than by it. A pod that somebody deletes is made again
// anyway; a rule is needed only where its peers must start again with it.
std::vector<Trigger> disruptions(model::Scope scope) {
  if (scope == model::Scope::kPod) return {Trigger::kDisrupted};
  return {Trigger::kDisrupted, Trigger::kDeleted};
}

std::vector<Rule> rules_of(RestartPolicy policy, const TrainingJob& job) {
  Action restart{ActionKind::kRestart, job.restart_scope};
  Rule on_failure{.on = {Trigger::kFailed}, .action = restart};
  Rule on_disruption{.on = disruptions(job.restart_scope), .action = restart};
  switch (policy) {
    case RestartPolicy::kNever:
      return {};
    case RestartPolicy::kOnFailure:
    case RestartPolicy::kAlways:
      return {on_failure, on_disruption};
    case RestartPolicy::kExitCode:
      // 130 interrupt, 137 killed, 138 the user's own "start me again", 143 terminated.
      on_failure.exits = {ExitRange{130, 130}, ExitRange{137, 138}, ExitRange{143, 143}};
      if (job.mirrored) on_failure.exits.insert(on_failure.exits.begin(), ExitRange{42, 42});
      return {on_failure, on_disruption};
  }
  return {};
}

std::vector<model::Role> roles_of(const TrainingJob& job) {
  std::vector<model::Role> roles;
  for (const ReplicaSpec& replicas : job.replica_specs) {
    model::Role role;
    role.name = replicas.type;
    role.title = replicas.type;
    role.replicas = replicas.replicas;
    role.runs_forever = replicas.restart == RestartPolicy::kAlways;
    role.rules = rules_of(replicas.restart, job);
    roles.push_back(std::move(role));
  }
  return roles;
}

// The first replica of the chief, or of the workers when no chief runs.
model::ReplicaId main_replica(const std::vector<model::Role>& roles) {
  int worker = 0;
  for (size_t i = 0; i < roles.size(); ++i) {
    if (roles[i].replicas == 0) continue;
    if (roles[i].name == "chief") return {static_cast<int>(i), 0};
    if (roles[i].name == "worker") worker = static_cast<int>(i);
  }
  return {worker, 0};
}

model::Gang gang_of(const model::JobSpec& spec, const QueuePlace& place) {
  model::Gang gang;
  gang.scheduler = model::GangScheduler::kT9k;
  gang.name = spec.pod_prefix;
  gang.min_member = spec.total_replicas();
  gang.queue = place.queue;
  gang.priority = place.priority;
  return gang;
}

model::JobSpec spec_of(TrainingJob job) {
  model::JobSpec spec;
  spec.dialect = "t9k";
  spec.name_space = job.name_space;
  spec.name = job.name;
  spec.uid = job.uid;
  spec.generation = kube::generation_of(job.source);
  spec.pod_prefix = child_prefix(job.name, job.uid);
  spec.roles = roles_of(job);
  model::ReplicaId main = main_replica(spec.roles);
  spec.roles[static_cast<size_t>(main.role)].otherwise_main = Action{ActionKind::kFail};
  spec.success = model::MainReplica{.id = main};
  spec.running_min = spec.total_replicas();
  spec.budget = {.restarts_max = job.backoff_limit, .spent_fails_job = false};
  spec.cleanup = job.cleanup;
  spec.mode = job.paused ? model::RunMode::kPause : model::RunMode::kRun;
  if (job.active_deadline_seconds) {
    spec.active_deadline = seconds(std::min(*job.active_deadline_seconds, kDeadlineSecondsMax));
  }
  if (job.scheduler) spec.gang = gang_of(spec, *job.scheduler);
  if (job.has_tensorboard) spec.tensorboard = spec.pod_prefix;
  spec.holds_deletion = job.holds_deletion;
  spec.advice = std::move(job.advice);
  spec.source = std::make_shared<const json::object>(std::move(job.source));
  return spec;
}

// The list at spec.runMode.pause.resumeSpecs, [] when there is none.
json::value resume_specs_of(const json::object& object) {
  const json::value* found = kube::find(object, {"spec", "runMode", "pause", "resumeSpecs"});
  return found == nullptr || found->is_null() ? json::value(json::array()) : *found;
}

// None: it is no T9k queue. Its priority there is the PodGroup's, which follows the job.
std::optional<std::string> queue_of(const json::object& object) {
  std::optional<QueuePlace> place = queue_place_of(object);
  return place ? std::optional<std::string>(place->queue) : std::nullopt;
}

struct Shape {
  std::set<std::string> types;
  bool has_chief = false;  // one that runs
};

Shape shape_of(const json::object& object) {
  Shape shape;
  const json::array* list = kube::array_at(object, {"spec", "replicaSpecs"});
  if (list == nullptr) return shape;
  for (const json::value& entry : *list) {
    const json::object* replicas = entry.if_object();
    if (replicas == nullptr) continue;
    std::string type(kube::text_at(*replicas, {"type"}));
    if (type == "chief" && kube::int_at(*replicas, {"replicas"}).value_or(1) > 0) shape.has_chief = true;
    shape.types.insert(std::move(type));
  }
  return shape;
}

}  // namespace

dialect::LowerResult lower(const json::object& object, const dialect::Settings&) {
  std::vector<Problem> problems;
  TrainingJob job = decode(object, problems);
  if (!problems.empty()) return problems;
  return spec_of(std::move(job));
}

std::vector<Problem> validate_update(const json::object& before, const json::object& after) {
  std::vector<Problem> problems;
  if (resume_specs_of(before) != resume_specs_of(after)) {
    problems.push_back({"spec.runMode.pause.resumeSpecs", ProblemKind::kForbidden, "",
                        "field is immutable: resume settings are set when the job is created"});
  }
  if (queue_of(before) != queue_of(after)) {
    problems.push_back({"spec.scheduler", ProblemKind::kForbidden, "",
                        "field is immutable: pods cannot change their queue or PodGroup"});
  }
  Shape old_shape = shape_of(before);
  Shape new_shape = shape_of(after);
  if (old_shape.types != new_shape.types) {
    problems.push_back({"spec.replicaSpecs", ProblemKind::kForbidden, "",
                        "replica types cannot be added or removed once the job is created"});
  } else if (old_shape.has_chief != new_shape.has_chief) {
    problems.push_back({"spec.replicaSpecs", ProblemKind::kForbidden, "",
                        "the chief cannot come or go once the job is created: its end decides the job's"});
  }
  return problems;
}

}  // namespace trainyard::t9k
