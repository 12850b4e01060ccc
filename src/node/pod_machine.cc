#include "node/pod_machine.h"

#include <signal.h>

#include <algorithm>

#include "kube/meta.h"
#include "node/pod_parts.h"
#include "node/pod_plan.h"

namespace trainyard::node {

using kube::text_at;

namespace {

// A container that the status speaks of and the runtime does not know.
std::optional<ContainerStatus> recall(const json::object& pod, const json::object& status) {
  const json::object* state = kube::object_at(status, {"state"});
  if (state == nullptr) return std::nullopt;
  ContainerStatus out;
  out.id = {std::string(kube::uid_of(pod)), std::string(text_at(status, {"name"})),
            static_cast<int>(kube::int_at(status, {"restartCount"}).value_or(0))};
  out.phase = ContainerPhase::kExited;
  const json::object* terminated = kube::object_at(*state, {"terminated"});
  if (terminated == nullptr) terminated = kube::object_at(status, {"lastState", "terminated"});
  if (const json::object* running = kube::object_at(*state, {"running"})) {
    out.started = parse_rfc3339(text_at(*running, {"startedAt"})).value_or(Time{});
    out.finished = out.started;
    out.exit_code = 137;
    out.message = "The container could not be located";
    return out;
  }
  if (terminated == nullptr) return std::nullopt;
  out.started = parse_rfc3339(text_at(*terminated, {"startedAt"})).value_or(Time{});
  out.finished = parse_rfc3339(text_at(*terminated, {"finishedAt"})).value_or(Time{});
  out.exit_code = static_cast<int>(kube::int_at(*terminated, {"exitCode"}).value_or(0));
  out.oom_killed = text_at(*terminated, {"reason"}) == "OOMKilled";
  return out;
}

}  // namespace

Duration back_off_after(int crashes) {
  if (crashes <= 1) return Duration{0};
  Duration wait = kBackOffFirst;
  for (int i = 2; i < crashes && wait < kBackOffMax; ++i) wait *= 2;
  return std::min(wait, kBackOffMax);
}

std::string_view restart_policy_of(const json::object& pod) {
  std::string_view policy = text_at(pod, {"spec", "restartPolicy"});
  return policy.empty() ? "Always" : policy;
}

void wake_at(Decision& decision, Time time) {
  if (!decision.wake || time < *decision.wake) decision.wake = time;
}

int64_t grace_of(const json::object& pod) {
  return kube::int_at(pod, {"spec", "terminationGracePeriodSeconds"}).value_or(kGraceSecondsDefault);
}

bool is_sidecar(const json::object& container) { return text_at(container, {"restartPolicy"}) == "Always"; }

std::string pod_in_words(const json::object& pod) {
  return fmt::format("{}_{}({})", kube::name_of(pod), kube::namespace_of(pod), kube::uid_of(pod));
}

bool is_terminal_phase(std::string_view phase) { return phase == "Succeeded" || phase == "Failed"; }

// ---- what is known ---------------------------------------------------------------

// The first look at a pod, perhaps one that an earlier life of the node has begun.
void PodMachine::take_up(const PodView& view) {
  if (taken_up_) return;
  taken_up_ = true;
  start_time_ = parse_rfc3339(text_at(view.pod, {"status", "startTime"}));
  if (!start_time_) start_time_ = view.now;
  for (std::string_view list : {"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"}) {
    const json::array* statuses = kube::array_at(view.pod, {"status", list});
    if (statuses == nullptr) continue;
    for (const json::value& entry : *statuses) {
      if (!entry.is_object()) continue;
      std::optional<ContainerStatus> recalled = recall(view.pod, entry.get_object());
      if (recalled) recalled_.push_back(*recalled);
      recall_resources(entry.get_object());
      std::string name(text_at(entry.get_object(), {"name"}));
      image_ids_[std::move(name)] = text_at(entry.get_object(), {"imageID"});
    }
  }
  std::string_view reason = text_at(view.pod, {"status", "reason"});
  bool failed = text_at(view.pod, {"status", "phase"}) == "Failed";
  if (failed && !reason.empty())
    ending_ = {std::string(reason), std::string(text_at(view.pod, {"status", "message"}))};
}

PodMachine::Part PodMachine::part_of(const json::object& spec, const PodView& view) {
  Part part;
  part.spec = &spec;
  part.name = text_at(spec, {"name"});
  bool known = memory_.contains(part.name);
  part.memory = &memory_[part.name];
  auto look = [&](const std::vector<ContainerStatus>& statuses) {
    for (const ContainerStatus& status : statuses) {
      if (status.id.container != part.name) continue;
      // Found, not started by us: what has been done to it is not known, so it is not done again.
      if (!known && status.id.attempt >= part.memory->attempt) {
        part.memory->attempt = status.id.attempt;
        part.memory->crashes = status.id.attempt;
        part.memory->asked = true;
        part.memory->post_start_asked = part.memory->post_start_done = true;
      }
    }
    for (const ContainerStatus& status : statuses) {
      if (status.id.container != part.name) continue;
      if (status.id.attempt == part.memory->attempt && !part.current) part.current = &status;
      if (status.id.attempt == part.memory->attempt - 1 && !part.previous) part.previous = &status;
    }
  };
  look(view.containers);
  look(recalled_);
  return part;
}

std::vector<PodMachine::Part> PodMachine::parts(const PodView& view) {
  std::vector<Part> parts;
  for (bool init : {true, false}) {
    for (const json::object* spec : containers_of(view.pod, init)) {
      parts.push_back(part_of(*spec, view));
      parts.back().init = init;
      parts.back().sidecar = init && is_sidecar(*spec);
    }
  }
  for (const json::object* spec : debug_containers_of(view.pod)) {
    parts.push_back(part_of(*spec, view));
    parts.back().debug = true;
  }
  return parts;
}

bool PodMachine::wants_restart(const Part& part, const PodView& view, bool main_left) const {
  if (deletion_seen_ || ending_ || part.debug) return false;
  if (part.memory->restarts_for_resize) return true;
  if (part.sidecar) return main_left;
  std::string_view policy = restart_policy_of(view.pod);
  if (policy == "Never") return false;
  bool only_failures = policy == "OnFailure" || part.init;
  return !only_failures || part.current->exit_code != 0;
}

// A container that ended is either done for good or about to have its next attempt.
void PodMachine::note_ends(std::vector<Part>& parts, const PodView& view) {
  bool main_left = false;
  for (const Part& part : parts) {
    main_left = main_left || (part.is_main() && (!part.ended() || wants_restart(part, view, true)));
  }
  for (Part& part : parts) {
    if (!part.ended()) continue;
    ContainerMemory& memory = *part.memory;
    memory.stop.reset();
    memory.ready = false;
    memory.started = false;
    memory.probes.clear();
    if (wants_restart(part, view, main_left)) note_end(part, view);
  }
}

void PodMachine::note_end(Part& part, const PodView& view) {
  ContainerMemory& memory = *part.memory;
  if (part.current->finished - part.current->started >= kBackOffForgotten) memory.crashes = 0;
  const bool is_crash = !memory.restarts_for_resize;
  if (is_crash) ++memory.crashes;
  memory.start_after = part.current->finished + (is_crash ? back_off_after(memory.crashes) : Duration{0});
  if (*memory.start_after > view.now) {
    std::string wait = format_duration(back_off_after(memory.crashes));
    memory.waiting_reason = "CrashLoopBackOff";
    memory.waiting_message = fmt::format("back-off {} restarting failed container={} pod={}", wait, part.name,
                                         pod_in_words(view.pod));
    events_.push_back({true, "BackOff",
                       fmt::format("Back-off restarting failed container {} in pod {}", part.name,
                                   pod_in_words(view.pod))});
  }
  ++memory.attempt;
  memory.asked = false;
  memory.post_start_asked = memory.post_start_done = memory.post_start_failed = false;
  part.previous = part.current;
  part.current = nullptr;
}

int PodMachine::attempt_of(const std::string& container) const {
  auto found = memory_.find(container);
  return found == memory_.end() ? 0 : found->second.attempt;
}

// ---- what to do --------------------------------------------------------------------

void PodMachine::start_due(Part& part, const PodView& view, Decision& decision) {
  ContainerMemory& memory = *part.memory;
  if (part.current != nullptr || memory.asked) return;
  if (memory.start_after && *memory.start_after > view.now) return wake_at(decision, *memory.start_after);
  memory.asked = true;
  memory.applied = allocated_for(view, *part.spec);
  memory.restarts_for_resize = false;
  memory.resize_after.reset();
  decision.actions.push_back(StartContainer{part.name, memory.attempt});
}

void PodMachine::drive(std::vector<Part>& parts, const PodView& view, Decision& decision) {
  bool main_left =
      std::any_of(parts.begin(), parts.end(), [](const Part& p) { return p.is_main() && !p.ended(); });
  bool init_done = true;
  for (Part& part : parts) {
    bool leaves = (part.sidecar || part.debug) && !main_left;
    if (leaves && part.alive()) begin_stop(part, view.now, grace_of(view.pod), "");
    if (part.alive()) drive_alive(part, view, decision);
    drive_resize(part, view, decision);
    if (leaves) continue;
    if (part.debug) {
      start_due(part, view, decision);
    } else if (part.init) {
      if (!init_done) continue;
      if (part.sidecar) {
        start_due(part, view, decision);
        init_done = part.running() && part.memory->started;
      } else if (!part.ended()) {
        start_due(part, view, decision);
        init_done = false;
      } else if (!part.ended_well()) {
        init_done = false;
      }
    } else if (init_done) {
      start_due(part, view, decision);
    }
  }
}

void PodMachine::begin_stop(Part& part, Time now, int64_t grace_seconds, const std::string& why) {
  Time kill_at = now + seconds(std::max<int64_t>(0, grace_seconds));
  if (part.memory->stop) {
    part.memory->stop->kill_at = std::min(part.memory->stop->kill_at, kill_at);
    return;
  }
  part.memory->stop = StopMemory{kill_at};
  events_.push_back({false, "Killing", why.empty() ? fmt::format("Stopping container {}", part.name) : why});
}

void PodMachine::drive_stop(Part& part, const PodView& view, Decision& decision) {
  StopMemory& stop = *part.memory->stop;
  const json::object* hook = probe_of(*part.spec, CheckKind::kPreStop);
  if (hook != nullptr && !stop.hook_asked && stop.kill_at > view.now) {
    stop.hook_asked = true;
    decision.actions.push_back(
        RunCheck{part.name, part.memory->attempt, CheckKind::kPreStop, *hook, stop.kill_at - view.now});
  }
  bool hook_through = hook == nullptr || stop.hook_done || stop.kill_at <= view.now;
  if (hook_through && !stop.term_sent) {
    stop.term_sent = true;
    decision.actions.push_back(SignalContainer{part.name, part.memory->attempt, SIGTERM});
  }
  if (stop.kill_at > view.now) return wake_at(decision, stop.kill_at);
  // Again and again: the first may have come before the process was there.
  decision.actions.push_back(SignalContainer{part.name, part.memory->attempt, SIGKILL});
  stop.kill_sent = true;
  wake_at(decision, view.now + seconds(1));
}

void PodMachine::stop_all(std::vector<Part>& parts, const PodView& view, Decision& decision) {
  int64_t grace = grace_of(view.pod);
  if (deletion_seen_) {
    int64_t asked = kube::int_at(view.pod, {"metadata", "deletionGracePeriodSeconds"}).value_or(grace);
    Time end = *deletion_seen_ + seconds(asked);
    // Seen late, after a restart of the node: what is left of the grace.
    std::optional<Time> mark = parse_rfc3339(text_at(view.pod, {"metadata", "deletionTimestamp"}));
    if (mark) end = std::min(end, *mark + seconds(1));
    grace = std::max<int64_t>(0, ((end - view.now).count() + 999) / 1000);
  }
  for (Part& part : parts) {
    if (!part.alive()) continue;
    begin_stop(part, view.now, grace, "");
    drive_stop(part, view, decision);
  }
}

void PodMachine::check_deadline(const PodView& view, Decision& decision) {
  std::optional<int64_t> limit = kube::int_at(view.pod, {"spec", "activeDeadlineSeconds"});
  if (!limit || ending_ || deletion_seen_) return;
  Time deadline = *start_time_ + seconds(*limit);
  if (deadline > view.now) return wake_at(decision, deadline);
  ending_ = {"DeadlineExceeded", "Pod was active on the node longer than the specified deadline"};
  events_.push_back({false, "DeadlineExceeded", ending_->second});
}

// Attempts that nobody asks about any more: all but the current and the one before.
void PodMachine::prune(const std::vector<Part>& parts, const PodView& view, Decision& decision) const {
  for (const ContainerStatus& status : view.containers) {
    if (status.phase != ContainerPhase::kExited) continue;
    for (const Part& part : parts) {
      if (part.name != status.id.container || status.id.attempt >= part.memory->attempt - 1) continue;
      decision.actions.push_back(RemoveContainer{part.name, status.id.attempt});
    }
  }
}

// Whether nothing runs and nothing will be started.
bool PodMachine::is_over(const std::vector<Part>& parts) const {
  bool alive = std::any_of(parts.begin(), parts.end(), [](const Part& p) { return p.alive(); });
  if (alive) return false;
  if (deletion_seen_ || ending_) return true;
  for (const Part& part : parts) {
    // An init container that failed for good ends the pod.
    if (part.init && !part.sidecar && part.ended() && !part.ended_well()) return true;
  }
  return std::all_of(parts.begin(), parts.end(), [](const Part& p) { return !p.is_main() || p.ended(); });
}

Decision PodMachine::step(const PodView& view) {
  Decision decision;
  take_up(view);
  if (kube::is_deleting(view.pod) && !deletion_seen_) deletion_seen_ = view.now;
  check_deadline(view, decision);
  std::vector<Part> all = parts(view);
  note_ends(all, view);
  note_resources(all, view);
  tell_resize(std::any_of(all.begin(), all.end(), [&](const Part& p) { return is_resizing(p, view); }));
  bool was_terminal = is_terminal_phase(text_at(view.pod, {"status", "phase"}));
  finished_ = was_terminal || is_over(all);
  if (was_terminal || deletion_seen_ || ending_) {
    stop_all(all, view, decision);
  } else if (finished_) {
    // Nothing is left to be done.
  } else if (!prepared_) {
    if (prepare_after_ && *prepare_after_ > view.now) {
      wake_at(decision, *prepare_after_);
    } else if (!prepare_asked_) {
      prepare_asked_ = true;
      decision.actions.push_back(PreparePod{});
    }
  } else {
    drive(all, view, decision);
  }
  prune(all, view, decision);
  // What has been told of a pod's end is never told differently.
  const json::object* told = kube::object_at(view.pod, {"status"});
  decision.status = was_terminal ? *told : status_of(all, view);
  bool alive = std::any_of(all.begin(), all.end(), [](const Part& p) { return p.alive(); });
  if (finished_ && !alive) {
    decision.actions.push_back(FinishPod{});
    if (deletion_seen_) decision.actions.push_back(DeletePod{});
  }
  decision.events = std::exchange(events_, {});
  return decision;
}

// ---- answers ------------------------------------------------------------------------

void PodMachine::on_prepared(const Result<std::string>& ip, Time now) {
  prepare_asked_ = false;
  prepared_ = ip.ok();
  prepare_error_ = ip.ok() ? "" : ip.error().message;
  if (ip.ok()) return;
  prepare_after_ = now + kStartRetry;
  bool mount = ip.error().message.find("MountVolume") != std::string::npos;
  events_.push_back({true, mount ? "FailedMount" : "FailedCreatePodSandBox", ip.error().message});
}

void PodMachine::on_image(const std::string& name, std::string_view image, std::string id) {
  std::string_view rest = id.empty() ? "is not on this machine: the host's own root stands in for it"
                                     : "already present on machine";
  image_ids_[name] = std::move(id);
  events_.push_back({false, "Pulled", fmt::format("Container image \"{}\" {}", image, rest)});
}

void PodMachine::on_started(const std::string& name) {
  ContainerMemory& memory = memory_[name];
  memory.waiting_reason.clear();
  memory.waiting_message.clear();
  memory.start_after.reset();
  events_.push_back({false, "Created", fmt::format("Created container: {}", name)});
  events_.push_back({false, "Started", fmt::format("Started container {}", name)});
}

void PodMachine::on_start_failed(const std::string& name, std::string reason, std::string message, Time now) {
  ContainerMemory& memory = memory_[name];
  memory.asked = false;
  memory.start_after = now + kStartRetry;
  events_.push_back({true, "Failed", "Error: " + message});
  memory.waiting_reason = std::move(reason);
  memory.waiting_message = std::move(message);
}

void PodMachine::evict(std::string reason, std::string message) {
  if (ending_) return;
  if (reason == "Evicted") events_.push_back({true, reason, message});
  ending_ = {std::move(reason), std::move(message)};
}

}  // namespace trainyard::node
