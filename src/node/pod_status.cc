// The pod's status as Kubernetes reports it. Pure; part of the pod machine.
#include <algorithm>

#include "kube/meta.h"
#include "kube/pod_requests.h"
#include "node/pod_machine.h"
#include "node/pod_parts.h"
#include "node/pod_plan.h"

namespace trainyard::node {

using kube::text_at;

namespace {

std::string_view reason_of(const ContainerStatus& status) {
  if (status.oom_killed) return "OOMKilled";
  if (status.exit_code == 0) return "Completed";
  if (status.message.empty()) return "Error";
  return status.exit_code == 137 ? "ContainerStatusUnknown" : "ContainerCannotRun";
}

std::string container_id(const PodView& view, const ContainerId& id) {
  return fmt::format("{}://{}-{}-{}", view.runtime, id.pod_uid, id.container, id.attempt);
}

json::object terminated_of(const ContainerStatus& status, const PodView& view) {
  json::object out{{"exitCode", status.exit_code}};
  if (status.signal != 0) out["signal"] = status.signal;
  out["reason"] = kube::jview(reason_of(status));
  auto words = view.last_words.find(status.id);
  if (!status.message.empty()) {
    out["message"] = status.message;
  } else if (words != view.last_words.end() && !words->second.empty()) {
    out["message"] = words->second;
  }
  out["startedAt"] = format_rfc3339(status.started);
  out["finishedAt"] = format_rfc3339(status.finished);
  out["containerID"] = container_id(view, status.id);
  return json::object{{"terminated", std::move(out)}};
}

// The condition of that type in the status as it was, null when there is none.
const json::object* find_condition(const json::object& pod, std::string_view type) {
  const json::array* conditions = kube::array_at(pod, {"status", "conditions"});
  if (conditions == nullptr) return nullptr;
  for (const json::value& entry : *conditions) {
    if (entry.is_object() && text_at(entry.get_object(), {"type"}) == type) return &entry.get_object();
  }
  return nullptr;
}

struct Verdict {
  bool holds = false;
  std::string reason;
  std::string message;
};

json::object condition_of(const PodView& view, std::string_view type, const Verdict& verdict) {
  std::string_view status = verdict.holds ? "True" : "False";
  const json::object* before = find_condition(view.pod, type);
  bool same = before != nullptr && text_at(*before, {"status"}) == status &&
              !text_at(*before, {"lastTransitionTime"}).empty();
  json::object out{
      {"type", kube::jview(type)},
      {"status", kube::jview(status)},
      {"lastProbeTime", nullptr},
      {"lastTransitionTime", same ? json::value(kube::jview(text_at(*before, {"lastTransitionTime"})))
                                  : json::value(format_rfc3339(view.now))}};
  if (!verdict.reason.empty()) out["reason"] = verdict.reason;
  if (!verdict.message.empty()) out["message"] = verdict.message;
  return out;
}

// Whether a pod whose containers are ready is so itself: what its gates say.
Verdict behind_gates(const PodView& view) {
  std::string missing;
  for (const json::value& entry : kube::or_empty(kube::array_at(view.pod, {"spec", "readinessGates"}))) {
    std::string_view type = entry.is_object() ? text_at(entry.get_object(), {"conditionType"}) : "";
    const json::object* condition = find_condition(view.pod, type);
    std::string_view status = condition != nullptr ? text_at(*condition, {"status"}) : "";
    if (status == "True") continue;
    if (!missing.empty()) missing += ", ";
    if (condition == nullptr) {
      missing += fmt::format("corresponding condition of pod readiness gate \"{}\" does not exist.", type);
    } else {
      missing += fmt::format("the status of pod readiness gate \"{}\" is not \"True\", but {}", type, status);
    }
  }
  if (missing.empty()) return {true, "", ""};
  return {false, "ReadinessGatesNotReady", std::move(missing)};
}

std::string list_of(const std::vector<std::string>& names) {
  return fmt::format("[{}]", fmt::join(names, " "));
}

constexpr std::string_view kOurConditions[] = {
    "PodReadyToStartContainers", "Initialized",        "Ready", "ContainersReady", "PodScheduled",
    "PodResizePending",          "PodResizeInProgress"};

// What the container was given, as far as the runtime holds it to that.
json::object given_resources(const ContainerMemory& memory, const json::object& spec, bool running,
                             const PodView& view) {
  json::object given = running && memory.applied ? *memory.applied : allocated_for(view, spec);
  json::value* limits = given.if_contains("limits");
  if (limits == nullptr || !limits->is_object()) return given;
  if (!view.enforced.cpu) limits->get_object().erase("cpu");
  if (!view.enforced.memory) limits->get_object().erase("memory");
  if (view.enforced == Enforced{false, false}) given.erase("limits");
  return given;
}

}  // namespace

// One entry of containerStatuses.
static json::object container_status(const ContainerMemory& memory, const json::object& spec,
                                     const std::string& name, const ContainerStatus* current,
                                     const ContainerStatus* previous, bool has_init_containers,
                                     const std::string& unprepared, const PodView& view) {
  json::object state;
  bool running = current != nullptr && current->phase == ContainerPhase::kRunning;
  if (running) {
    state["running"] = json::object{{"startedAt", format_rfc3339(current->started)}};
  } else if (current != nullptr && current->phase == ContainerPhase::kExited) {
    state = terminated_of(*current, view);
  } else {
    json::object waiting{{"reason", memory.waiting_reason.empty()
                                        ? (has_init_containers ? "PodInitializing" : "ContainerCreating")
                                        : memory.waiting_reason.c_str()}};
    const std::string& message = memory.waiting_reason.empty() ? unprepared : memory.waiting_message;
    if (!message.empty()) waiting["message"] = message;
    state["waiting"] = std::move(waiting);
  }
  std::string image(text_at(spec, {"image"}));
  // A restart counts once it is known to have begun.
  bool begun = current != nullptr && current->phase != ContainerPhase::kStarting;
  int restarts = begun || previous == nullptr ? memory.attempt : memory.attempt - 1;
  json::object out{{"name", name},
                   {"state", std::move(state)},
                   {"lastState", previous != nullptr ? terminated_of(*previous, view) : json::object{}},
                   {"ready", running && memory.ready},
                   {"restartCount", restarts},
                   {"image", image},
                   {"imageID", ""}};
  const ContainerStatus* known = begun || previous == nullptr ? current : previous;
  if (known != nullptr) out["containerID"] = container_id(view, known->id);
  out["started"] = running && memory.started;
  json::object allocated = allocated_for(view, spec);
  if (const json::object* set_aside = kube::object_at(allocated, {"requests"})) {
    out["allocatedResources"] = *set_aside;
  }
  out["resources"] = given_resources(memory, spec, running, view);
  return out;
}

// What the containers of a pod amount to.
struct PodMachine::Summary {
  bool init_done = true;
  bool all_well = true;
  bool any_run = false;
  std::vector<std::string> not_initialized, not_ready;
  json::array init_statuses, statuses, debug_statuses;
  std::string phase = "Pending";
  bool resizing = false;
  std::string resize_error;
};

PodMachine::Summary PodMachine::sum_up(const std::vector<Part>& parts, const PodView& view) const {
  Summary sum;
  bool over = is_over(parts);
  bool has_init = std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.init; });
  for (const Part& part : parts) {
    json::object status = container_status(*part.memory, *part.spec, part.name, part.current, part.previous,
                                           has_init, prepare_error_, view);
    if (auto id = image_ids_.find(part.name); id != image_ids_.end()) status["imageID"] = id->second;
    sum.resizing = sum.resizing || is_resizing(part, view);
    if (sum.resize_error.empty()) sum.resize_error = part.memory->resize_error;
    if (part.init) {
      bool done = part.sidecar ? (part.running() && part.memory->started) || over : part.ended_well();
      if (!done) sum.not_initialized.push_back(part.name);
      sum.init_done = sum.init_done && done;
      if (!part.sidecar) status["ready"] = part.ended_well();
      if (!part.sidecar && !part.ended_well()) sum.all_well = false;
      if (part.sidecar && !part.is_ready()) sum.not_ready.push_back(part.name);
      sum.init_statuses.push_back(std::move(status));
    } else if (part.debug) {
      status["ready"] = false;
      status.erase("allocatedResources");
      status.erase("resources");
      sum.debug_statuses.push_back(std::move(status));
    } else {
      sum.any_run = sum.any_run || part.has_run();
      sum.all_well = sum.all_well && part.ended_well();
      if (!part.is_ready()) sum.not_ready.push_back(part.name);
      sum.statuses.push_back(std::move(status));
    }
  }
  if (over) {
    sum.phase = sum.all_well && !(ending_ && !deletion_seen_) ? "Succeeded" : "Failed";
  } else if (sum.init_done && sum.any_run) {
    sum.phase = "Running";
  }
  return sum;
}

json::array PodMachine::conditions_of(const Summary& sum, const PodView& view) const {
  json::array conditions;
  if (const json::array* before = kube::array_at(view.pod, {"status", "conditions"})) {
    for (const json::value& entry : *before) {
      std::string_view type = entry.is_object() ? text_at(entry.get_object(), {"type"}) : "";
      if (std::find(std::begin(kOurConditions), std::end(kOurConditions), type) == std::end(kOurConditions)) {
        conditions.push_back(entry);
      }
    }
  }
  bool succeeded = sum.phase == "Succeeded";
  bool over = is_terminal_phase(sum.phase);
  Verdict ready{sum.not_ready.empty() && sum.phase == "Running", "", ""};
  if (!ready.holds) {
    ready.reason = succeeded ? "PodCompleted" : over ? "PodFailed" : "ContainersNotReady";
    if (!over) ready.message = "containers with unready status: " + list_of(sum.not_ready);
  }
  Verdict initialized{sum.init_done, succeeded ? "PodCompleted" : "", ""};
  if (!sum.init_done) {
    initialized.reason = "ContainersNotInitialized";
    initialized.message = "containers with incomplete status: " + list_of(sum.not_initialized);
  }
  conditions.push_back(condition_of(view, "PodReadyToStartContainers", {prepared_ && !over, "", ""}));
  conditions.push_back(condition_of(view, "Initialized", initialized));
  conditions.push_back(condition_of(view, "Ready", ready.holds ? behind_gates(view) : ready));
  conditions.push_back(condition_of(view, "ContainersReady", ready));
  conditions.push_back(condition_of(view, "PodScheduled", {true, "", ""}));
  if (!over) add_resize_conditions(sum, view, conditions);
  return conditions;
}

void PodMachine::add_resize_conditions(const Summary& sum, const PodView& view, json::array& conditions) {
  auto add = [&](std::string_view type, const Verdict& verdict) {
    json::object condition = condition_of(view, type, verdict);
    if (int64_t generation = kube::generation_of(view.pod)) condition["observedGeneration"] = generation;
    conditions.push_back(std::move(condition));
  };
  std::string_view pending = name_of(view.resize.state);
  if (!pending.empty()) add("PodResizePending", {true, std::string(pending), view.resize.message});
  if (sum.resizing)
    add("PodResizeInProgress", {true, sum.resize_error.empty() ? "" : "Error", sum.resize_error});
}

json::object PodMachine::status_of(const std::vector<Part>& parts, const PodView& view) const {
  Summary sum = sum_up(parts, view);
  json::object out{{"phase", sum.phase}, {"conditions", conditions_of(sum, view)}};
  if (int64_t generation = kube::generation_of(view.pod)) out["observedGeneration"] = generation;
  if (ending_ && sum.phase == "Failed") {
    out["reason"] = ending_->first;
    out["message"] = ending_->second;
  }
  if (!view.host_ip.empty()) {
    out["hostIP"] = view.host_ip;
    out["hostIPs"] = json::array{json::object{{"ip", view.host_ip}}};
  }
  if (!view.pod_ip.empty()) {
    out["podIP"] = view.pod_ip;
    out["podIPs"] = json::array{json::object{{"ip", view.pod_ip}}};
  }
  out["startTime"] = format_rfc3339(*start_time_);
  if (!sum.init_statuses.empty()) out["initContainerStatuses"] = std::move(sum.init_statuses);
  out["containerStatuses"] = std::move(sum.statuses);
  if (!sum.debug_statuses.empty()) out["ephemeralContainerStatuses"] = std::move(sum.debug_statuses);
  out["qosClass"] = kube::jview(kube::qos_class_of(view.pod));
  return out;
}

}  // namespace trainyard::node
