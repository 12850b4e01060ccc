#include "dialect/shared/see_pod.h"

#include <algorithm>
#include <charconv>

#include "dialect/shared/dialect.h"

namespace trainyard::dialect {
namespace {

model::PodPhase phase_of(kube::PodPhase phase) {
  switch (phase) {
    case kube::PodPhase::kPending:
      return model::PodPhase::kPending;
    case kube::PodPhase::kRunning:
      return model::PodPhase::kRunning;
    case kube::PodPhase::kSucceeded:
      return model::PodPhase::kSucceeded;
    case kube::PodPhase::kFailed:
      return model::PodPhase::kFailed;
    case kube::PodPhase::kUnknown:
      return model::PodPhase::kUnknown;
  }
  return model::PodPhase::kUnknown;
}

model::ContainerPhase phase_of(kube::ContainerStateKind state) {
  switch (state) {
    case kube::ContainerStateKind::kWaiting:
      return model::ContainerPhase::kWaiting;
    case kube::ContainerStateKind::kRunning:
      return model::ContainerPhase::kRunning;
    case kube::ContainerStateKind::kTerminated:
      return model::ContainerPhase::kTerminated;
  }
  return model::ContainerPhase::kWaiting;
}

model::ContainerSeen see_container(const kube::ContainerStatus& status) {
  model::ContainerSeen seen{.name = status.name,
                            .phase = phase_of(status.state),
                            .reason = status.reason,
                            .message = status.message};
  if (status.terminated) {
    seen.exit_code = status.terminated->exit_code;
    if (seen.reason.empty()) seen.reason = status.terminated->reason;
    if (seen.message.empty()) seen.message = status.terminated->message;
  }
  return seen;
}

int attempt_of(const kube::Pod& pod) {
  std::string_view text = pod.annotation(kAttemptAnnotation);
  int attempt = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), attempt);
  return error == std::errc() && end == text.data() + text.size() && attempt > 0 ? attempt : 0;
}

std::string_view main_name(const kube::Pod& pod, std::string_view wanted) {
  if (!wanted.empty()) return wanted;
  if (!pod.container_names.empty()) return pod.container_names.front();
  return pod.containers.empty() ? "" : std::string_view(pod.containers.front().name);
}

// The pod's own words, or those of what keeps it from running.
void explain(const kube::Pod& pod, model::PodSeen& seen) {
  seen.reason = pod.reason;
  seen.message = pod.message;
  if (!seen.reason.empty() || !seen.message.empty()) return;
  for (const auto* list : {&pod.init_containers, &pod.containers}) {
    for (const kube::ContainerStatus& status : *list) {
      bool failed = status.terminated && status.terminated->exit_code != 0;
      bool stuck = status.state == kube::ContainerStateKind::kWaiting &&
                   status.reason != "ContainerCreating" && status.reason != "PodInitializing";
      if (!failed && !stuck) continue;
      model::ContainerSeen words = see_container(status);
      seen.reason = words.reason;
      seen.message = words.message;
      return;
    }
  }
  if (pod.scheduled.status == kube::ConditionStatus::kFalse) {
    seen.reason = pod.scheduled.reason;
    seen.message = pod.scheduled.message;
  }
}

}  // namespace

model::PodSeen see_pod(const kube::Pod& pod, model::ReplicaId id, std::string_view main_container) {
  model::PodSeen seen{.id = id, .name = pod.name, .uid = pod.uid, .attempt = attempt_of(pod)};
  seen.phase = phase_of(pod.phase);
  seen.terminating = pod.is_deleting();
  seen.ready = pod.ready.is_true();
  seen.scheduled = pod.scheduled.is_true() || !pod.node_name.empty();
  seen.disrupted = kube::is_disrupted(pod);
  seen.created_at = pod.created_at;
  for (const kube::ContainerStatus& status : pod.init_containers) seen.restarts += status.restart_count;
  for (const kube::ContainerStatus& status : pod.containers) {
    seen.restarts += status.restart_count;
    seen.containers.push_back(see_container(status));
    if (status.terminated && status.terminated->finished_at) {
      seen.finished_at = std::max(seen.finished_at.value_or(Time{}), *status.terminated->finished_at);
    }
  }
  const kube::ContainerStatus* main = pod.container(main_name(pod, main_container));
  if (main != nullptr && main->terminated) {
    seen.exit_code = main->terminated->exit_code;
    if (main->terminated->finished_at) seen.finished_at = main->terminated->finished_at;
  }
  if (pod.is_deleting()) {
    Time asked = *pod.deleted_at - seconds(pod.deletion_grace);
    seen.deleted_first = !seen.finished_at || *seen.finished_at >= asked;
  }
  explain(pod, seen);
  return seen;
}

}  // namespace trainyard::dialect
