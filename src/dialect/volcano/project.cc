#include "dialect/volcano/project.h"

#include <algorithm>
#include <set>
#include <vector>

#include "dialect/volcano/claims.h"
#include "dialect/volcano/decode.h"
#include "dialect/volcano/go_duration.h"
#include "dialect/volcano/keys.h"
#include "dialect/volcano/reasons.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::dialect::vc {
namespace {

using model::JobState;
using model::Phase;
using model::ResultKind;

std::string_view word_of(ResultKind result) {
  switch (result) {
    case ResultKind::kSucceeded:
      return "Completed";
    case ResultKind::kFailed:
      return "Failed";
    case ResultKind::kTerminated:
      return "Terminated";
  }
  return "Failed";
}

std::string_view word_of(const JobState& state, bool old_pods) {
  switch (state.phase) {
    case Phase::kNew:
    case Phase::kQueued:
    case Phase::kStarting:
      return "Pending";
    case Phase::kRunning:
      return "Running";
    case Phase::kRestarting:
    case Phase::kResuming:
      return old_pods ? "Restarting" : "Pending";
    case Phase::kPausing:
      return "Aborting";
    case Phase::kPaused:
      return "Aborted";
    case Phase::kCompleting:
      return "Completing";
    case Phase::kTerminating:
      return "Terminating";
    case Phase::kFinished:
      return word_of(state.result.value_or(ResultKind::kFailed));
  }
  return "Pending";
}

bool is_final(std::string_view word) {
  return word == "Completed" || word == "Failed" || word == "Terminated";
}

// Whether the job is stopping or has stopped: everything unfinished is on its way out.
bool is_stopping(Phase phase) {
  return phase == Phase::kPausing || phase == Phase::kPaused || phase == Phase::kCompleting ||
         phase == Phase::kTerminating || phase == Phase::kFinished;
}

// Pods of one task by phase, and those that are leaving or must.
struct Counts {
  int pending = 0;
  int running = 0;
  int succeeded = 0;
  int failed = 0;
  int unknown = 0;
  int leaving = 0;
};

struct Field {
  std::string_view status;     // in the job's status
  std::string_view pod_phase;  // in taskStatusCount, "" where it does not have it
  int Counts::*number;
};
constexpr Field kFields[] = {
    {"pending", "Pending", &Counts::pending},       {"running", "Running", &Counts::running},
    {"succeeded", "Succeeded", &Counts::succeeded}, {"failed", "Failed", &Counts::failed},
    {"unknown", "Unknown", &Counts::unknown},       {"terminating", "", &Counts::leaving},
};

bool ended(const model::PodSeen& pod) {
  return pod.phase == model::PodPhase::kSucceeded || pod.phase == model::PodPhase::kFailed;
}

// Whether the pod is being deleted, or is of no use any more: beyond what the spec asks
// for, of an earlier attempt, or unfinished when everything stops. What ended before the
// job stopped is kept.
bool is_leaving(const model::Observation& seen, const JobState& state, const model::PodSeen& pod) {
  if (pod.terminating) return true;
  if (is_stopping(state.phase)) return !ended(pod);
  return pod.id.index >= seen.spec.roles[pod.id.role].replicas || pod.attempt < state.attempt_of(pod.id);
}

void count_pod(const model::PodSeen& pod, Counts& counts) {
  switch (pod.phase) {
    case model::PodPhase::kPending:
      ++counts.pending;
      break;
    case model::PodPhase::kRunning:
      ++counts.running;
      break;
    case model::PodPhase::kSucceeded:
      ++counts.succeeded;
      break;
    case model::PodPhase::kFailed:
      ++counts.failed;
      break;
    case model::PodPhase::kUnknown:
      ++counts.unknown;
      break;
  }
}

// One entry per task, and a last one for pods of tasks that are no more. A replica that
// ended and whose pod was lost since counts as it ended.
std::vector<Counts> count_pods(const model::Observation& seen, const JobState& state) {
  size_t tasks = seen.spec.roles.size();
  std::vector<Counts> counts(tasks + 1);
  std::set<model::ReplicaId> with_pod;
  for (const model::PodSeen& pod : seen.pods) {
    if (pod.gone) continue;
    bool known = pod.id.role >= 0 && pod.id.role < static_cast<int>(tasks);
    Counts& of_task = counts[known ? static_cast<size_t>(pod.id.role) : tasks];
    if (!known || is_leaving(seen, state, pod))
      ++of_task.leaving;
    else
      count_pod(pod, of_task);
    with_pod.insert(pod.id);
  }
  for (const model::ReplicaRecord& record : state.replicas) {
    std::optional<model::Outcome> outcome = state.outcome_of(record.id);
    bool known = record.id.role < static_cast<int>(tasks) &&
                 record.id.index < seen.spec.roles[record.id.role].replicas;
    if (!outcome || !known || with_pod.contains(record.id)) continue;
    ++(*outcome == model::Outcome::kSucceeded ? counts[record.id.role].succeeded
                                              : counts[record.id.role].failed);
  }
  return counts;
}

void put_number(json::object& status, std::string_view key, int number) {
  if (number == 0)
    status.erase(kube::jview(key));
  else
    status[kube::jview(key)] = number;
}

void put_counts(const model::Observation& seen, const JobState& state, json::object& status) {
  std::vector<Counts> counts = count_pods(seen, state);
  Counts sum;
  json::object by_task;
  for (size_t i = 0; i < counts.size(); ++i) {
    json::object phases;
    for (const Field& field : kFields) {
      int number = counts[i].*field.number;
      sum.*field.number += number;
      if (number > 0 && !field.pod_phase.empty()) phases[kube::jview(field.pod_phase)] = number;
    }
    if (!phases.empty()) by_task[seen.spec.roles[i].name] = json::object{{"phase", std::move(phases)}};
  }
  for (const Field& field : kFields) put_number(status, field.status, sum.*field.number);
  if (by_task.empty())
    status.erase("taskStatusCount");
  else
    status["taskStatusCount"] = std::move(by_task);
}

bool has_old_pods(const model::Observation& seen, const JobState& state) {
  return std::any_of(seen.pods.begin(), seen.pods.end(), [&](const model::PodSeen& pod) {
    return !pod.gone && (pod.id.role < 0 || pod.attempt < state.attempt_of(pod.id));
  });
}

// Moves the phase's entry to the end, or puts one there.
void enter(json::array& conditions, std::string_view word, const std::string& time) {
  json::array kept;
  for (json::value& entry : conditions) {
    if (entry.is_object() && kube::text_at(entry.get_object(), {"status"}) != word)
      kept.push_back(std::move(entry));
  }
  kept.push_back({{"status", kube::jview(word)}, {"lastTransitionTime", time}});
  conditions = std::move(kept);
}

// Whether Volcano would have been Restarting for a moment between `before` and `word`.
bool passes_restarting(const JobState& state, std::string_view before, std::string_view word) {
  if (before == "Restarting") return false;
  if (state.phase == Phase::kResuming) return word == "Pending";
  return word == "Failed" && state.budget_refused;
}

void put_state(const JobState& state, std::string_view word, const json::object& previous, Time now,
               json::object& status) {
  std::string before(kube::text_at(previous, {"state", "phase"}));
  std::string time = format_rfc3339(now);
  if (before != word) {
    json::array& conditions = kube::ensure_array(status, {"conditions"});
    if (passes_restarting(state, before, word)) enter(conditions, "Restarting", time);
    enter(conditions, word, time);
  }
  json::object& shown = kube::ensure_object(status, {"state"});
  shown["phase"] = kube::jview(word);
  if (before != word) shown["lastTransitionTime"] = time;
  Reason why = reason_of(state);
  for (auto& [key, text] : {std::pair{"reason", &why.reason}, std::pair{"message", &why.message}}) {
    if (text->empty())
      shown.erase(key);
    else
      shown[key] = *text;
  }
}

void put_duration(const model::JobSpec& job, bool stopping, json::object& status) {
  status.erase("runningDuration");
  if (!stopping) return;
  std::optional<Time> created = kube::creation_time_of(*job.source);
  std::optional<Time> since = parse_rfc3339(kube::text_at(status, {"state", "lastTransitionTime"}));
  if (!created || !since || *since < *created) return;
  status["runningDuration"] = format_go_duration(*since - *created);
}

bool is_there(const model::Observation& seen, std::string_view claim) {
  return std::any_of(
      seen.companions.begin(), seen.companions.end(), [&](const model::CompanionSeen& companion) {
        return companion.kind == model::CompanionKind::kPersistentVolumeClaim && companion.name == claim;
      });
}

void put_resources(const model::Observation& seen, const JobState& state, json::object& status) {
  json::object& resources = kube::ensure_object(status, {"controlledResources"});
  std::vector<std::string> ours;
  for (const auto& member : resources) {
    std::string_view key = kube::view(member.key());
    if (key.starts_with(kPluginPrefix) || key.starts_with(kClaimPrefix)) ours.emplace_back(key);
  }
  for (const std::string& key : ours) resources.erase(key);
  if (!is_stopping(state.phase)) {
    const Spec& spec = spec_of(seen.spec);
    for (std::string_view plugin : spec.plugins.names()) {
      resources[std::string(kPluginPrefix).append(plugin)] = kube::jview(plugin);
    }
    for (const Claim& claim : claims_of(spec)) {
      if (claim.body == nullptr && !is_there(seen, claim.name)) continue;
      resources[std::string(kClaimPrefix).append(claim.name)] = claim.name;
    }
  }
  resources[kube::jview(kStateKey)] = json::serialize(model::encode_state(seen.spec, state));
}

// What Volcano's own status tells of a job that we have never looked at.
JobState adopt(const model::JobSpec& job, const json::object& status) {
  JobState state = model::decode_state(job, {});
  state.kills =
      static_cast<int>(std::clamp<int64_t>(kube::int_at(status, {"version"}).value_or(0), 0, INT32_MAX));
  state.restarts =
      static_cast<int>(std::clamp<int64_t>(kube::int_at(status, {"retryCount"}).value_or(0), 0, INT32_MAX));
  std::string_view word = kube::text_at(status, {"state", "phase"});
  std::optional<Time> since = parse_rfc3339(kube::text_at(status, {"state", "lastTransitionTime"}));
  auto end = [&](ResultKind result, Phase phase) {
    state.result = result;
    state.phase = phase;
    state.finished_at = since;
  };
  if (word == "Completed") end(ResultKind::kSucceeded, Phase::kFinished);
  if (word == "Failed") end(ResultKind::kFailed, Phase::kFinished);
  if (word == "Terminated") end(ResultKind::kTerminated, Phase::kFinished);
  if (word == "Completing") end(ResultKind::kSucceeded, Phase::kCompleting);
  if (word == "Terminating") end(ResultKind::kTerminated, Phase::kTerminating);
  if (word == "Aborting" || word == "Aborted") {
    state.asked_mode = model::RunMode::kPause;
    state.phase = word == "Aborted" ? Phase::kPaused : Phase::kPausing;
  }
  return state;
}

}  // namespace

int retry_count(const JobState& state) { return state.restarts + (state.budget_refused ? 1 : 0); }

json::object project(const model::Observation& seen, const JobState& state, const json::object& previous,
                     Time now) {
  json::object status = previous;
  put_state(state, word_of(state, has_old_pods(seen, state)), previous, now, status);
  put_counts(seen, state, status);
  const auto* tally = std::get_if<model::Tally>(&seen.spec.success);
  status["minAvailable"] = tally == nullptr ? seen.spec.running_min : tally->min_available;
  put_number(status, "version", state.kills);
  put_number(status, "retryCount", retry_count(state));
  put_duration(seen.spec, is_stopping(state.phase), status);
  put_resources(seen, state, status);
  return status;
}

JobState recall(const model::JobSpec& job, const json::object& object) {
  const json::object* status = kube::object_at(object, {"status"});
  if (status == nullptr) return model::decode_state(job, {});
  std::string_view text = kube::text_at(*status, {"controlledResources", kStateKey});
  if (text.empty()) return adopt(job, *status);
  boost::system::error_code error;
  json::value encoded = json::parse(kube::jview(text), error);
  if (error || !encoded.is_object()) return adopt(job, *status);
  return model::decode_state(job, encoded.get_object());
}

json::object project_invalid(const json::object& object, const std::vector<Problem>& problems, Time now) {
  const json::object* previous = kube::object_at(object, {"status"});
  json::object status = previous == nullptr ? json::object() : *previous;
  std::string before(kube::text_at(status, {"state", "phase"}));
  if (is_final(before)) return status;
  std::string_view word = before.empty() ? std::string_view("Pending") : std::string_view(before);
  std::string time = format_rfc3339(now);
  if (before.empty()) enter(kube::ensure_array(status, {"conditions"}), word, time);
  json::object& shown = kube::ensure_object(status, {"state"});
  if (before.empty()) shown["lastTransitionTime"] = time;
  shown["phase"] = kube::jview(word);
  shown["reason"] = "InvalidSpec";
  shown["message"] = join(problems);
  return status;
}

}  // namespace trainyard::dialect::vc
