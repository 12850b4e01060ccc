#include "dialect/tfjob/project.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialect/shared/conditions.h"
#include "dialect/shared/counts.h"
#include "dialect/shared/rewrite.h"
#include "dialect/tfjob/job_conditions.h"
#include "dialect/tfjob/render.h"
#include "dialect/tfjob/words.h"
#include "kube/access.h"

namespace trainyard::dialect::tf {
namespace {

using model::Phase;
using model::ResultKind;

void tell_ended(JobConditions& conditions, const model::JobSpec& spec, const model::JobState& state) {
  switch (*state.result) {
    case ResultKind::kSucceeded:
      conditions.set("Succeeded", true, "TFJobSucceeded", succeeded_text(spec));
      break;
    case ResultKind::kFailed:
    case ResultKind::kTerminated:
      conditions.set("Failed", true, "TFJobFailed", failed_text(spec, state.cause));
      break;
  }
}

void tell_phase(JobConditions& conditions, const model::JobSpec& spec, const model::JobState& state) {
  bool pausing = state.phase == Phase::kPausing || state.phase == Phase::kPaused;
  if (pausing) {
    if (conditions.is_true("Running"))
      conditions.set("Running", false, "TFJobSuspended", suspended_text(spec));
    conditions.set("Suspended", true, "TFJobSuspended", suspended_text(spec));
    return;
  }
  if (conditions.is_true("Suspended")) conditions.set("Suspended", false, "TFJobResumed", resumed_text(spec));
  if (state.phase == Phase::kRunning) conditions.set("Running", true, "TFJobRunning", running_text(spec));
  if (state.phase == Phase::kRestarting) {
    conditions.set("Restarting", true, "TFJobRestarting", restarting_text(spec, state.cause));
  }
}

void put_count(json::object& into, std::string_view key, int count) {
  if (count > 0) into[kube::jview(key)] = count;
}

json::object counts_of(const RoleCounts& counts, const model::JobState& state) {
  int active = counts.running;
  int succeeded = counts.succeeded;
  // Whoever still runs when the job has succeeded has done what it was there for.
  if (state.result == ResultKind::kSucceeded) succeeded += std::exchange(active, 0);
  if (state.phase == Phase::kPausing || state.phase == Phase::kPaused) active = 0;
  json::object entry;
  put_count(entry, "active", active);
  put_count(entry, "succeeded", succeeded);
  put_count(entry, "failed", counts.failed);
  return entry;
}

// By which an autoscaler finds the pods whose number it changes. Only where that may change: Kubeflow's
// operator tells it of no TFJob.
void put_selector(json::object& entry, const model::JobSpec& spec, const model::Role& role) {
  const bool is_scaled = spec.source != nullptr && role.title == "Worker" &&
                         kube::bool_at(*spec.source, {"spec", "enableDynamicWorker"}) == true;
  if (!is_scaled) return;
  entry["selector"] = fmt::format("{}={},{}={},{}={}", kJobNameLabel, spec.name, kOperatorNameLabel,
                                  kOperatorName, kReplicaTypeLabel, role.name);
}

// After the end the counts stay as they were then, but for pods that run no more.
json::object final_counts(const json::object& then, const RoleCounts& counts) {
  json::object entry = then;
  int64_t active = kube::int_at(then, {"active"}).value_or(0);
  active = std::min<int64_t>(active, counts.running);
  entry.erase("active");
  json::object first;
  put_count(first, "active", static_cast<int>(active));
  for (const auto& member : entry) first[member.key()] = member.value();
  return first;
}

json::object replica_statuses(const model::Observation& seen, const model::JobState& state,
                              const json::object& previous, bool had_ended) {
  std::vector<RoleCounts> counts = count_replicas(seen, state);
  json::object statuses;
  for (size_t role = 0; role < counts.size(); ++role) {
    const std::string& title = seen.spec.roles[role].title;
    const json::object* then = kube::object_at(previous, {"replicaStatuses", title});
    const bool stays = had_ended && then != nullptr;
    json::object entry = stays ? final_counts(*then, counts[role]) : counts_of(counts[role], state);
    if (!stays) put_selector(entry, seen.spec, seen.spec.roles[role]);
    statuses[title] = std::move(entry);
  }
  return statuses;
}

}  // namespace

json::object project_tfjob(const model::Observation& seen, const model::JobState& state,
                           const json::object& previous, Time now) {
  const model::JobSpec& spec = seen.spec;
  JobConditions conditions(conditions_of(previous), now);
  bool had_ended = conditions.ended();
  if (!conditions.has("Created")) conditions.set("Created", true, "TFJobCreated", created_text(spec));
  if (state.finished()) {
    tell_ended(conditions, spec, state);
  } else if (!had_ended) {
    tell_phase(conditions, spec, state);
  }

  json::object status = copy_but(previous, {"conditions", "replicaStatuses", kRecord});
  status["conditions"] = conditions.take();
  if (state.started_at || previous.contains("replicaStatuses")) {
    status["replicaStatuses"] = replica_statuses(seen, state, previous, had_ended);
  }
  if (state.started_at) status["startTime"] = format_rfc3339(*state.started_at);
  if (state.finished_at) status["completionTime"] = format_rfc3339(*state.finished_at);
  status[kube::jview(kRecord)] = model::encode_state(spec, state);
  return status;
}

model::JobState recall_tfjob(const model::JobSpec& spec, const json::object& object) {
  if (const json::object* memory = kube::object_at(object, {"status", kRecord})) {
    return model::decode_state(spec, *memory);
  }
  model::JobState state = model::decode_state(spec, {});
  const json::object* status = kube::object_at(object, {"status"});
  if (status == nullptr) return state;
  state.started_at = parse_rfc3339(kube::text_at(*status, {"startTime"}));
  JobConditions conditions(conditions_of(*status), Time{});
  if (!conditions.ended()) return state;
  state.phase = Phase::kFinished;
  state.result = conditions.is_true("Failed") ? ResultKind::kFailed : ResultKind::kSucceeded;
  state.finished_at = parse_rfc3339(kube::text_at(*status, {"completionTime"}));
  return state;
}

}  // namespace trainyard::dialect::tf
