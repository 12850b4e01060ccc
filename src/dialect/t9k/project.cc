#include "dialect/t9k/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dialect/shared/conditions.h"
#include "dialect/shared/rewrite.h"
#include "dialect/t9k/status_conditions.h"
#include "dialect/t9k/tasks.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::t9k {
namespace {

using dialect::Problem;
using model::JobState;
using model::Phase;
using model::ResultKind;

bool is_terminal(std::string_view phase) { return phase == "Succeeded" || phase == "Failed"; }

std::string_view phase_word(const JobState& state, const json::object& previous) {
  if (state.result) return *state.result == ResultKind::kSucceeded ? "Succeeded" : "Failed";
  if (starts_again(state, previous)) return "Running";
  switch (state.phase) {
    case Phase::kNew:
    case Phase::kQueued:
    case Phase::kStarting:
      return "Pending";
    case Phase::kRunning:
    case Phase::kRestarting:
      return "Running";
    case Phase::kPausing:
    case Phase::kPaused:
      return "Paused";
    case Phase::kResuming:
      return "Resuming";
    case Phase::kCompleting:
    case Phase::kTerminating:
    case Phase::kFinished:
      return "Unknown";  // these have a result
  }
  return "Unknown";
}

json::object tensorboard_status(const model::Observation& seen) {
  const std::string& name = *seen.spec.tensorboard;
  json::object dependent{{"apiVersion", kube::kTensorBoards.api_version()},
                         {"kind", kube::jview(kube::kTensorBoards.kind)},
                         {"name", name}};
  if (!seen.spec.name_space.empty()) dependent["namespace"] = seen.spec.name_space;
  bool exists = seen.tensorboard.has_value();
  bool ready = exists && seen.tensorboard->ready;
  if (exists) dependent["uid"] = seen.tensorboard->uid;
  std::string_view state = ready ? "is ready" : exists ? "is not ready" : "is being created";
  return {{"action", exists ? "NOP" : "Create"},
          {"dependent", std::move(dependent)},
          {"note", fmt::format("TensorBoard [{}] {}", name, state)},
          {"ready", ready},
          {"reason", ready    ? "DependentReady"
                     : exists ? "DependentNotReady"
                              : "DependentNotFound"},
          {"type", "Normal"}};
}

const json::object& status_of(const json::object& object) {
  static const json::object kNone;
  const json::object* status = kube::object_at(object, {"status"});
  return status ? *status : kNone;
}

std::optional<Time> condition_time(const json::object& status, std::string_view type) {
  const json::array* conditions = kube::array_at(status, {"conditions"});
  const json::object* found = conditions ? dialect::find_condition(*conditions, type) : nullptr;
  return found ? parse_rfc3339(kube::text_at(*found, {"lastTransitionTime"})) : std::nullopt;
}

int count_at(const json::object& from, std::string_view key) {
  int64_t count = kube::int_at(from, {key}).value_or(0);
  return static_cast<int>(std::clamp<int64_t>(count, 0, std::numeric_limits<int32_t>::max()));
}

// What the status of another operator says that we would have remembered.
void adopt(const model::JobSpec& spec, const json::object& status, JobState& state) {
  state.restarts = count_at(status, "backoffCount");
  if (const json::array* tasks = kube::array_at(status, {"tasks"})) {
    for (const json::value& value : *tasks) {
      const json::object* task = value.if_object();
      int role = task ? spec.role_named(kube::text_at(*task, {"type"})) : -1;
      if (role < 0 || role >= static_cast<int>(state.roles.size())) continue;
      state.roles[static_cast<size_t>(role)].restarts = count_at(*task, "restartCount");
    }
  }
  std::string_view phase = kube::text_at(status, {"phase"});
  if (!is_terminal(phase)) return;
  state.phase = Phase::kFinished;
  state.result = phase == "Succeeded" ? ResultKind::kSucceeded : ResultKind::kFailed;
  state.initialized = dialect::condition_is(dialect::conditions_of(status), "Initialized", "True");
  state.started_at = condition_time(status, "Initialized");
  state.finished_at = condition_time(status, "Completed");
}

}  // namespace

json::object project(const model::Observation& seen, const JobState& state, const json::object& previous,
                     Time now) {
  std::string_view before = kube::text_at(previous, {"phase"});
  if (is_terminal(before) && !state.result) return previous;  // terminal is terminal
  const bool ended = is_terminal(before);
  json::object status =
      ended ? dialect::copy_but(previous, {"tasks", "aggregate", "tensorboard", dialect::kRecord})
            : dialect::copy_but(previous,
                                {"conditions", "tasks", "aggregate", "tensorboard", dialect::kRecord});
  TasksStatus tasks = project_tasks(seen, state, previous);
  if (!ended) {
    status["conditions"] = merge_conditions(previous, wanted_conditions(seen, state, previous), now);
    status["phase"] = kube::jview(phase_word(state, previous));
  }
  status["tasks"] = std::move(tasks.tasks);
  status["aggregate"] = std::move(tasks.aggregate);
  status["backoffCount"] = state.restarts;
  if (seen.spec.tensorboard) {
    status["tensorboard"] = tensorboard_status(seen);
  } else {
    status.erase("tensorboard");
  }
  status[kube::jview(dialect::kRecord)] = model::encode_state(seen.spec, state);
  return status;
}

JobState recall(const model::JobSpec& spec, const json::object& object) {
  const json::object& status = status_of(object);
  if (const json::object* memory = kube::object_at(status, {dialect::kRecord}))
    return model::decode_state(spec, *memory);
  JobState state = model::decode_state(spec, {});
  adopt(spec, status, state);
  return state;
}

json::object project_invalid(const json::object& object, const std::vector<Problem>& problems, Time now) {
  json::object status = status_of(object);
  std::string_view phase = kube::text_at(status, {"phase"});
  if (is_terminal(phase)) return status;
  status["conditions"] = with_invalid_spec(status, problems, now);
  if (phase.empty()) status["phase"] = "Pending";
  return status;
}

}  // namespace trainyard::t9k
