#include "dialect/t9k/status_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "dialect/shared/conditions.h"
#include "dialect/t9k/words.h"
#include "kube/access.h"

namespace trainyard::t9k {
namespace {

using model::Cause;
using model::CauseKind;
using model::JobState;
using model::Phase;
using model::ResultKind;

constexpr std::array<std::string_view, 6> kOrder{"Initialized", "Running",        "Failed",
                                                 "Completed",   "ReplicaFailure", "Paused"};
constexpr size_t kProblemsShownMax = 20;

constexpr std::string_view kAllWell = "All pods are running normally or have completed successfully.";
constexpr std::string_view kAllWellAtTheEnd = "All pods are running normally.";

bool is_paused(const JobState& state) {
  return !state.result && (state.phase == Phase::kPausing || state.phase == Phase::kPaused);
}

// The replica that is in error: the one that ended or restarts the job, else the first
// that failed and was not started again.
std::optional<Cause> trouble(const model::JobSpec& spec, const JobState& state) {
  bool blamed =
      (state.result && *state.result != ResultKind::kSucceeded) || state.phase == Phase::kRestarting;
  if (blamed && !state.cause.role.empty()) return state.cause;
  for (const model::ReplicaRecord& record : state.replicas) {
    bool known = record.id.role >= 0 && record.id.role < static_cast<int>(spec.roles.size());
    if (!known || state.outcome_of(record.id) != model::Outcome::kFailed) continue;
    const model::Role& role = spec.roles[static_cast<size_t>(record.id.role)];
    if (record.id.index >= role.replicas) continue;
    return Cause{.kind = CauseKind::kReplicaFailed,
                 .role = role.name,
                 .index = record.id.index,
                 .exit_code = record.exit_code};
  }
  return std::nullopt;
}

WantedCondition initialized(const JobState& state) {
  if (state.initialized)
    return {"Initialized", true, std::string(kNothingToSay), std::string(kInitializedText)};
  if (state.result) {
    return {"Initialized", false, std::string(kNothingToSay),
            "The job ended before all of its pods were created."};
  }
  if (is_paused(state)) return {"Initialized", false, "Paused", "The job is paused."};
  return {"Initialized", false, "Creating", "The job is creating its pods."};
}

std::string waiting_text(const model::Observation& seen) {
  if (seen.gang && !seen.gang->message.empty()) {
    return fmt::format("The scheduler has not placed all pods: {}", seen.gang->message);
  }
  return "Waiting for the pods to start.";
}

// Running and Completed of a job that has not ended.
std::array<WantedCondition, 2> progress(const model::Observation& seen, const JobState& state,
                                        const json::object& previous, bool in_trouble) {
  auto both = [](bool runs, std::string_view reason, std::string_view message,
                 std::string_view not_finished) {
    return std::array<WantedCondition, 2>{
        WantedCondition{"Running", runs, std::string(reason), std::string(message)},
        WantedCondition{"Completed", false, "NotFinished", std::string(not_finished)}};
  };
  auto again = [&] {
    return both(true, "Restarting", "Pods are being started again.", "The job is still running.");
  };
  if (starts_again(state, previous)) return again();
  switch (state.phase) {
    case Phase::kNew:
    case Phase::kQueued:
    case Phase::kStarting:
      return both(false, "Pending", waiting_text(seen), "The job has not started yet.");
    case Phase::kRestarting:
      return again();
    case Phase::kPausing:
    case Phase::kPaused:
      return both(false, "Paused", "The job is paused.", "The job is paused.");
    case Phase::kResuming:
      return both(false, "Resuming", waiting_text(seen), "The job is resuming.");
    case Phase::kRunning:
    case Phase::kCompleting:
    case Phase::kTerminating:
    case Phase::kFinished:
      break;
  }
  std::string_view message = in_trouble ? "The job is running, though not all of its pods are." : kAllWell;
  return both(true, kNothingToSay, message, "The job is still running.");
}

WantedCondition replica_failure_condition(const model::JobSpec& spec, const JobState& state,
                                          const std::optional<Cause>& cause) {
  if (cause) {
    bool disrupted = cause->kind == CauseKind::kReplicaDisrupted;
    return {"ReplicaFailure", true, disrupted ? "Disrupted" : "ErrorInPod", replica_failure(spec, *cause)};
  }
  std::string_view message = "No pod has failed.";
  if (state.result == ResultKind::kSucceeded) message = kAllWellAtTheEnd;
  if (!state.result && state.phase == Phase::kRunning) message = kAllWell;
  return {"ReplicaFailure", false, std::string(kNothingToSay), std::string(message)};
}

// Running, Failed and Completed of a job that has ended.
std::array<WantedCondition, 3> ending(const model::JobSpec& spec, const JobState& state) {
  bool succeeded = *state.result == ResultKind::kSucceeded;
  std::string reason = succeeded ? "Succeeded" : "Failed";
  std::string message = succeeded ? std::string(kSucceededText) : job_failure(spec, state.cause);
  return {WantedCondition{"Running", false, reason, message},
          WantedCondition{"Failed", !succeeded, reason, message},
          WantedCondition{"Completed", true, reason, message}};
}

bool is_ours(std::string_view type) { return std::find(kOrder.begin(), kOrder.end(), type) != kOrder.end(); }

// Ours that `keep` holds, in their order; then the others as they stand.
json::array in_order(json::array conditions, const std::vector<std::string_view>& keep) {
  std::vector<json::object*> kept;
  for (std::string_view type : kOrder) {
    if (std::find(keep.begin(), keep.end(), type) == keep.end()) continue;
    if (json::object* found = dialect::find_condition(conditions, type)) kept.push_back(found);
  }
  for (json::value& entry : conditions) {
    json::object* condition = entry.if_object();
    if (condition != nullptr && !is_ours(kube::text_at(*condition, {"type"}))) kept.push_back(condition);
  }
  json::array ordered;
  ordered.reserve(kept.size());
  for (json::object* condition : kept) ordered.push_back(std::move(*condition));
  return ordered;
}

}  // namespace

bool starts_again(const JobState& state, const json::object& previous) {
  const bool waits = state.phase == Phase::kQueued || state.phase == Phase::kStarting;
  return !state.result && waits && kube::text_at(previous, {"phase"}) == "Running";
}

std::vector<WantedCondition> wanted_conditions(const model::Observation& seen, const JobState& state,
                                               const json::object& previous) {
  std::optional<Cause> cause = trouble(seen.spec, state);
  std::vector<WantedCondition> wanted{initialized(state)};
  if (state.result) {
    for (WantedCondition& condition : ending(seen.spec, state)) wanted.push_back(std::move(condition));
  } else {
    for (WantedCondition& condition : progress(seen, state, previous, cause.has_value())) {
      wanted.push_back(std::move(condition));
    }
  }
  wanted.push_back(replica_failure_condition(seen.spec, state, cause));
  const json::array* before = kube::array_at(previous, {"conditions"});
  bool was_paused = before != nullptr && dialect::find_condition(*before, "Paused") != nullptr;
  if (is_paused(state)) {
    wanted.push_back({"Paused", true, std::string(kNothingToSay), "The job is paused."});
  } else if (was_paused || state.resumes > 0) {
    wanted.push_back({"Paused", false, std::string(kNothingToSay), "The job is not paused."});
  }
  return wanted;
}

json::array merge_conditions(const json::object& previous, const std::vector<WantedCondition>& wanted,
                             Time now) {
  json::array conditions = dialect::conditions_of(previous);
  std::vector<std::string_view> keep;
  for (const WantedCondition& want : wanted) {
    dialect::set_condition(conditions, want.type, want.status ? "True" : "False", want.reason, want.message,
                           now);
    keep.push_back(want.type);
  }
  return in_order(std::move(conditions), keep);
}

json::array with_invalid_spec(const json::object& status, const std::vector<dialect::Problem>& problems,
                              Time now) {
  std::vector<dialect::Problem> shown(
      problems.begin(), problems.begin() + static_cast<long>(std::min(problems.size(), kProblemsShownMax)));
  std::string message = dialect::join(shown);
  if (shown.size() < problems.size()) message += fmt::format("; and {} more", problems.size() - shown.size());
  json::array conditions = dialect::conditions_of(status);
  dialect::set_condition(conditions, "Failed", "True", "InvalidSpec", message, now);
  return in_order(std::move(conditions), {kOrder.begin(), kOrder.end()});
}

}  // namespace trainyard::t9k
