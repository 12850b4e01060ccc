#include "control/simulated_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "kube/access.h"
#include "kube/meta.h"
#include "kube/objects.h"

namespace trainyard::control {
namespace {

constexpr Duration kShortestRestart{1'000};  // a container that ends at once is not started a thousand times

json::object condition_now(std::string_view type, bool holds, Time now, std::string_view reason = "",
                           std::string_view message = "") {
  json::object out{{"type", kube::jview(type)},
                   {"status", holds ? "True" : "False"},
                   {"lastTransitionTime", format_rfc3339(now)}};
  if (!reason.empty()) out["reason"] = kube::jview(reason);
  if (!message.empty()) out["message"] = kube::jview(message);
  return out;
}

// Puts it in the place of the one of its type; one that says the same keeps its time.
void put_condition(json::object& status, json::object condition) {
  json::array& conditions = kube::ensure_array(status, {"conditions"});
  for (json::value& entry : conditions) {
    json::object* before = entry.if_object();
    if (before == nullptr || kube::text_at(*before, {"type"}) != kube::text_at(condition, {"type"})) continue;
    if (kube::text_at(*before, {"status"}) != kube::text_at(condition, {"status"})) *before = condition;
    return;
  }
  conditions.push_back(std::move(condition));
}

json::object status_of(const json::object& object) {
  const json::object* status = kube::object_at(object, {"status"});
  return status != nullptr ? *status : json::object{};
}

// A whole number of at most this; nullopt when it is none.
std::optional<int64_t> whole_number(std::string_view text, int64_t most) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool whole = error == std::errc{} && end == text.data() + text.size() && value >= 0 && value <= most;
  return whole ? std::optional(value) : std::nullopt;
}

// How a pod ends, from its annotations.
struct Ending {
  std::optional<Duration> after;  // nullopt: never by itself
  int64_t code = 0;
  std::string complaint;  // "" when the annotations can be read
};

Ending ending_of(const json::object& pod) {
  constexpr int64_t kSecondsMax = 10LL * 365 * 24 * 3600;
  Ending out;
  std::string_view after = kube::annotation_of(pod, kSimulatedSeconds);
  std::string_view code = kube::annotation_of(pod, kSimulatedExitCode);
  if (!after.empty()) {
    if (std::optional<int64_t> read = whole_number(after, kSecondsMax)) out.after = seconds(*read);
    if (!out.after) {
      out.complaint =
          fmt::format("{} is '{}', not a whole number of seconds: the pod runs until it is deleted",
                      kSimulatedSeconds, kube::shown(after));
    }
  }
  if (!code.empty()) {
    std::optional<int64_t> read = whole_number(code, 255);
    out.code = read.value_or(1);
    if (!read) {
      out.complaint = fmt::format("{} is '{}', not a number from 0 to 255: taken for 1", kSimulatedExitCode,
                                  kube::shown(code));
    }
  }
  return out;
}

json::object running_since(Time start) {
  return {{"running", json::object{{"startedAt", format_rfc3339(start)}}}};
}

json::object ended_with(int64_t code, Time start, Time end) {
  return {{"terminated", json::object{{"exitCode", code},
                                      {"reason", code == 0 ? "Completed" : "Error"},
                                      {"startedAt", format_rfc3339(start)},
                                      {"finishedAt", format_rfc3339(end)}}}};
}

// The entries of status.containerStatuses, all in this state.
json::array statuses_of(const json::object& pod, std::string_view field, const json::object& state,
                        const json::object& last, int64_t restarts, bool ready) {
  json::array out;
  const json::array* containers = kube::array_at(pod, {"spec", field});
  for (size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    const json::object* container = (*containers)[i].if_object();
    if (container == nullptr) continue;
    out.push_back(json::object{{"name", kube::jview(kube::text_at(*container, {"name"}))},
                               {"image", kube::jview(kube::text_at(*container, {"image"}))},
                               {"imageID", ""},
                               {"ready", ready},
                               {"started", ready},
                               {"restartCount", restarts},
                               {"state", state},
                               {"lastState", last}});
  }
  return out;
}

// What the first container says of its present run.
struct Run {
  Time since;
  int64_t restarts = 0;
};

Run run_of(const json::object& pod, Time now) {
  Run out{now, 0};
  const json::array* statuses = kube::array_at(pod, {"status", "containerStatuses"});
  if (statuses == nullptr || statuses->empty() || !statuses->front().is_object()) return out;
  const json::object& first = statuses->front().get_object();
  out.since = parse_rfc3339(kube::text_at(first, {"state", "running", "startedAt"})).value_or(now);
  out.restarts = kube::int_at(first, {"restartCount"}).value_or(0);
  return out;
}

void set_ready(json::object& status, bool ready, Time now) {
  for (std::string_view type : {"Ready", "ContainersReady"}) {
    put_condition(status, condition_now(type, ready, now, ready ? "" : "PodCompleted"));
  }
}

json::object started(const json::object& pod, const Ending& ending, Time now) {
  json::object status = status_of(pod);
  status["phase"] = "Running";
  status["startTime"] = format_rfc3339(now);
  if (!ending.complaint.empty()) status["message"] = ending.complaint;
  for (std::string_view type : {"PodScheduled", "Initialized"}) {
    put_condition(status, condition_now(type, true, now));
  }
  set_ready(status, true, now);
  json::array inits = statuses_of(pod, "initContainers", ended_with(0, now, now), {}, 0, false);
  if (!inits.empty()) status["initContainerStatuses"] = std::move(inits);
  status["containerStatuses"] = statuses_of(pod, "containers", running_since(now), {}, 0, true);
  return status;
}

json::object ended(const json::object& pod, const Run& run, int64_t code, Time now) {
  json::object status = status_of(pod);
  std::string_view policy = kube::text_at(pod, {"spec", "restartPolicy"});
  bool again = policy.empty() || policy == "Always" || (policy == "OnFailure" && code != 0);
  json::object end = ended_with(code, run.since, now);
  if (again) {
    status["containerStatuses"] =
        statuses_of(pod, "containers", running_since(now), end, run.restarts + 1, true);
    return status;
  }
  status["phase"] = code == 0 ? "Succeeded" : "Failed";
  set_ready(status, false, now);
  status["containerStatuses"] = statuses_of(pod, "containers", end, {}, run.restarts, false);
  return status;
}

bool is_over(const json::object& pod) {
  std::string_view phase = kube::text_at(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace

bool is_simulated(const json::object& node) { return kube::label_of(node, kSimulatedLabel) == "true"; }

bool is_silent(const json::object& node) {
  std::vector<kube::Condition> conditions = kube::decode_conditions(node);
  const kube::Condition* ready = kube::find_condition(conditions, "Ready");
  return ready != nullptr && !ready->is_true();
}

std::optional<json::object> simulated_node_status(const json::object& node, Time now) {
  json::object status = status_of(node);
  json::object& capacity = kube::ensure_object(status, {"capacity"});
  for (auto [name, amount] : {std::pair{"cpu", "8"}, std::pair{"memory", "32Gi"}, std::pair{"pods", "110"}}) {
    if (!capacity.contains(name)) capacity[name] = amount;
  }
  json::object whole = capacity;
  json::object& allocatable = kube::ensure_object(status, {"allocatable"});
  for (const auto& member : whole) {
    if (!allocatable.contains(member.key())) allocatable[member.key()] = member.value();
  }
  std::vector<kube::Condition> conditions = kube::decode_conditions(node);
  if (kube::find_condition(conditions, "Ready") == nullptr) {
    put_condition(status,
                  condition_now("Ready", true, now, "Simulated", "the node is declared and has no kubelet"));
  }
  json::object& info = kube::ensure_object(status, {"nodeInfo"});
  for (auto [name, text] :
       {std::pair{"kubeletVersion", "simulated"}, std::pair{"containerRuntimeVersion", "simulated://1"},
        std::pair{"operatingSystem", "linux"}, std::pair{"osImage", "simulated"}}) {
    if (kube::text_at(info, {name}).empty()) info[name] = text;
  }
  if (status == status_of(node)) return std::nullopt;
  return status;
}

SimulatedPlan plan_simulated_pod(const json::object& pod, Time now) {
  if (kube::is_deleting(pod)) return {{}, true, {}};
  if (is_over(pod)) return {};
  Ending ending = ending_of(pod);
  if (kube::text_at(pod, {"status", "phase"}) != "Running") return {started(pod, ending, now), false, {}};
  if (!ending.after) return {};
  Run run = run_of(pod, now);
  Duration lasts = run.restarts > 0 ? std::max(*ending.after, kShortestRestart) : *ending.after;
  if (now < run.since + lasts) return {{}, false, run.since + lasts};
  return {ended(pod, run, ending.code, now), false, {}};
}

SimulatedPlan plan_orphan(const json::object& pod, Time now) {
  std::vector<kube::Condition> conditions = kube::decode_conditions(pod);
  const kube::Condition* told = kube::find_condition(conditions, "DisruptionTarget");
  bool marked = told != nullptr && told->is_true();
  if (kube::is_deleting(pod) || is_over(pod) || marked) return {{}, true, {}};
  json::object status = status_of(pod);
  status["phase"] = "Failed";
  std::string words = fmt::format("node {} is gone", kube::text_at(pod, {"spec", "nodeName"}));
  put_condition(status, condition_now("DisruptionTarget", true, now, "DeletionByPodGC", words));
  set_ready(status, false, now);
  return {std::move(status), false, {}};
}

}  // namespace trainyard::control
