// The hooks and probes of a PodMachine's containers: when they are run and what their answers mean.
#include <algorithm>

#include "node/pod_machine.h"
#include "node/pod_parts.h"

namespace trainyard::node {

std::string_view name_of(CheckKind kind) {
  switch (kind) {
    case CheckKind::kPostStart:
      return "PostStart";
    case CheckKind::kPreStop:
      return "PreStop";
    case CheckKind::kStartup:
      return "Startup";
    case CheckKind::kReadiness:
      return "Readiness";
    case CheckKind::kLiveness:
      return "Liveness";
  }
  return "";
}

const json::object* probe_of(const json::object& container, CheckKind kind) {
  switch (kind) {
    case CheckKind::kPostStart:
      return kube::object_at(container, {"lifecycle", "postStart"});
    case CheckKind::kPreStop:
      return kube::object_at(container, {"lifecycle", "preStop"});
    case CheckKind::kStartup:
      return kube::object_at(container, {"startupProbe"});
    case CheckKind::kReadiness:
      return kube::object_at(container, {"readinessProbe"});
    case CheckKind::kLiveness:
      return kube::object_at(container, {"livenessProbe"});
  }
  return nullptr;
}

void PodMachine::drive_alive(Part& part, const PodView& view, Decision& decision) {
  ContainerMemory& memory = *part.memory;
  if (memory.stop) return drive_stop(part, view, decision);
  if (!part.running()) return;
  if (!memory.post_start_asked) {
    memory.post_start_asked = true;
    const json::object* hook = probe_of(*part.spec, CheckKind::kPostStart);
    if (hook == nullptr) {
      memory.post_start_done = true;
    } else {
      decision.actions.push_back(
          RunCheck{part.name, memory.attempt, CheckKind::kPostStart, *hook, seconds(grace_of(view.pod))});
    }
  }
  if (!memory.post_start_done) return;
  if (memory.post_start_failed) {
    begin_stop(part, view.now, grace_of(view.pod), "FailedPostStartHook");
    return drive_stop(part, view, decision);
  }
  judge_probes(part, view);
  if (memory.stop) return drive_stop(part, view, decision);
  if (!memory.started) return drive_probe(part, CheckKind::kStartup, view, decision);
  drive_probe(part, CheckKind::kReadiness, view, decision);
  drive_probe(part, CheckKind::kLiveness, view, decision);
}

// What the probes so far mean: started, ready, or to be killed.
void PodMachine::judge_probes(Part& part, const PodView& view) {
  ContainerMemory& memory = *part.memory;
  auto count = [&](CheckKind kind, std::string_view key, int64_t fallback) {
    return std::max<int64_t>(1, kube::int_at(*probe_of(*part.spec, kind), {key}).value_or(fallback));
  };
  if (probe_of(*part.spec, CheckKind::kStartup) == nullptr ||
      memory.probes[CheckKind::kStartup].successes > 0) {
    memory.started = true;
  }
  if (const json::object* spec = probe_of(*part.spec, CheckKind::kReadiness); spec == nullptr) {
    memory.ready = memory.started;
  } else {
    const ProbeMemory& probe = memory.probes[CheckKind::kReadiness];
    if (probe.successes >= count(CheckKind::kReadiness, "successThreshold", 1)) memory.ready = true;
    if (probe.failures >= count(CheckKind::kReadiness, "failureThreshold", 3)) memory.ready = false;
  }
  for (CheckKind kind : {CheckKind::kStartup, CheckKind::kLiveness}) {
    const json::object* spec = probe_of(*part.spec, kind);
    if (spec == nullptr || memory.probes[kind].failures < count(kind, "failureThreshold", 3)) continue;
    std::string_view word = kind == CheckKind::kStartup ? "startup" : "liveness";
    int64_t grace = kube::int_at(*spec, {"terminationGracePeriodSeconds"}).value_or(grace_of(view.pod));
    begin_stop(part, view.now, grace,
               fmt::format("Container {} failed {} probe, will be restarted", part.name, word));
    memory.probes[kind] = {};
  }
}

void PodMachine::drive_probe(Part& part, CheckKind kind, const PodView& view, Decision& decision) {
  const json::object* spec = probe_of(*part.spec, kind);
  if (spec == nullptr) return;
  ProbeMemory& probe = part.memory->probes[kind];
  if (probe.under_way) return;
  if (!probe.next) {
    probe.next = part.current->started + seconds(kube::int_at(*spec, {"initialDelaySeconds"}).value_or(0));
  }
  if (*probe.next > view.now) return wake_at(decision, *probe.next);
  probe.under_way = true;
  probe.next = view.now + seconds(std::max<int64_t>(1, kube::int_at(*spec, {"periodSeconds"}).value_or(10)));
  Duration timeout = seconds(std::max<int64_t>(1, kube::int_at(*spec, {"timeoutSeconds"}).value_or(1)));
  decision.actions.push_back(RunCheck{part.name, part.memory->attempt, kind, *spec, timeout});
}

void PodMachine::on_check(const std::string& name, int attempt, CheckKind kind, bool ok,
                          const std::string& words) {
  ContainerMemory& memory = memory_[name];
  if (attempt != memory.attempt) return;
  if (kind == CheckKind::kPreStop) {
    if (memory.stop) memory.stop->hook_done = true;
    if (!ok) events_.push_back({true, "FailedPreStopHook", "PreStopHook failed: " + words});
    return;
  }
  if (kind == CheckKind::kPostStart) {
    memory.post_start_done = true;
    if (ok) return;
    events_.push_back({true, "FailedPostStartHook", "PostStartHook failed: " + words});
    memory.post_start_failed = true;
    return;
  }
  ProbeMemory& probe = memory.probes[kind];
  probe.under_way = false;
  probe.successes = ok ? probe.successes + 1 : 0;
  probe.failures = ok ? 0 : probe.failures + 1;
  if (!ok) events_.push_back({true, "Unhealthy", fmt::format("{} probe failed: {}", name_of(kind), words)});
}

}  // namespace trainyard::node
