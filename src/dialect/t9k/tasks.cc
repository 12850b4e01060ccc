#include "dialect/t9k/tasks.h"

#include <array>
#include <map>
#include <optional>
#include <string>

#include "kube/access.h"

namespace trainyard::t9k {
namespace {

enum class ReplicaPhase { kCreating, kPending, kRunning, kSucceeded, kFailed, kUnknown, kDeleted };

constexpr std::array<std::string_view, 7> kPhaseWords{"Creating", "Pending", "Running", "Succeeded",
                                                      "Failed",   "Unknown", "Deleted"};
constexpr std::array<std::string_view, 7> kCountKeys{"creating", "pending", "running", "succeeded",
                                                     "failed",   "unknown", "deleted"};

std::string_view word_of(ReplicaPhase phase) { return kPhaseWords[static_cast<size_t>(phase)]; }

ReplicaPhase phase_of(const model::PodSeen& pod) {
  switch (pod.phase) {
    case model::PodPhase::kPending:
      return pod.scheduled ? ReplicaPhase::kPending : ReplicaPhase::kCreating;
    case model::PodPhase::kRunning:
      return ReplicaPhase::kRunning;
    case model::PodPhase::kSucceeded:
      return ReplicaPhase::kSucceeded;
    case model::PodPhase::kFailed:
      return ReplicaPhase::kFailed;
    case model::PodPhase::kUnknown:
      return ReplicaPhase::kUnknown;
  }
  return ReplicaPhase::kUnknown;
}

std::string_view word_of(model::ContainerPhase phase) {
  switch (phase) {
    case model::ContainerPhase::kWaiting:
      return "Waiting";
    case model::ContainerPhase::kRunning:
      return "Running";
    case model::ContainerPhase::kTerminated:
      return "Terminated";
  }
  return "Waiting";
}

json::array containers_of(const model::PodSeen& pod) {
  json::array all;
  for (const model::ContainerSeen& seen : pod.containers) {
    json::object container;
    container.reserve(3);
    if (seen.phase == model::ContainerPhase::kTerminated && seen.exit_code) {
      container.emplace("exitCode", *seen.exit_code);
    }
    container.emplace("name", seen.name);
    container.emplace("state", kube::jview(word_of(seen.phase)));
    all.push_back(std::move(container));
  }
  return all;
}

json::object entry_of(const std::string& name, std::string_view uid, ReplicaPhase phase) {
  json::object entry;
  entry.reserve(4);  // and the containers
  entry.emplace("name", name);
  if (!uid.empty()) entry.emplace("uid", kube::jview(uid));
  entry.emplace("phase", kube::jview(word_of(phase)));
  return entry;
}

// The uid that each replica's pod had when the status was last written, by pod name.
std::map<std::string, std::string, std::less<>> known_uids(const json::object& previous) {
  std::map<std::string, std::string, std::less<>> uids;
  const json::array* tasks = kube::array_at(previous, {"tasks"});
  if (tasks == nullptr) return uids;
  for (const json::value& task : *tasks) {
    const json::array* replicas =
        task.is_object() ? kube::array_at(task.get_object(), {"replicas"}) : nullptr;
    if (replicas == nullptr) continue;
    for (const json::value& value : *replicas) {
      const json::object* replica = value.if_object();
      if (replica == nullptr) continue;
      std::string_view uid = kube::text_at(*replica, {"uid"});
      if (!uid.empty()) uids.emplace(kube::text_at(*replica, {"name"}), uid);
    }
  }
  return uids;
}

// The pod that stands for each replica; one that is gone from the store only if no other is there.
std::map<model::ReplicaId, const model::PodSeen*> pods_by_replica(const model::Observation& seen) {
  std::map<model::ReplicaId, const model::PodSeen*> pods;
  for (const model::PodSeen& pod : seen.pods) {
    if (pod.id.role < 0 || pod.id.role >= static_cast<int>(seen.spec.roles.size())) continue;
    const model::PodSeen*& slot = pods[pod.id];
    if (slot == nullptr || (slot->gone && !pod.gone)) slot = &pod;
  }
  return pods;
}

// Whether a replica without a pod is about to get one.
bool is_awaited(const model::JobState& state, model::ReplicaId id) {
  if (state.result || state.outcome_of(id)) return false;
  return state.phase != model::Phase::kPausing && state.phase != model::Phase::kPaused;
}

}  // namespace

TasksStatus project_tasks(const model::Observation& seen, const model::JobState& state,
                          const json::object& previous) {
  std::array<int, kPhaseWords.size()> counts{};
  std::optional<std::map<std::string, std::string, std::less<>>> uids;  // read when first asked for
  auto known_uid = [&](const std::string& name) -> std::string_view {
    if (!uids) uids = known_uids(previous);
    auto found = uids->find(name);
    return found == uids->end() ? std::string_view() : std::string_view(found->second);
  };
  std::map<model::ReplicaId, const model::PodSeen*> pods = pods_by_replica(seen);
  TasksStatus status;
  for (int r = 0; r < static_cast<int>(seen.spec.roles.size()); ++r) {
    const model::Role& role = seen.spec.roles[static_cast<size_t>(r)];
    json::array replicas;
    replicas.reserve(static_cast<size_t>(role.replicas));
    for (int i = 0; i < role.replicas; ++i) {
      model::ReplicaId id{r, i};
      std::string name = seen.spec.pod_name(id);
      auto found = pods.find(id);
      const model::PodSeen* pod = found == pods.end() ? nullptr : found->second;
      ReplicaPhase phase = ReplicaPhase::kCreating;
      if (pod != nullptr && !pod->gone) {
        phase = phase_of(*pod);
        replicas.push_back(entry_of(pod->name, pod->uid, phase));
        if (!pod->containers.empty()) replicas.back().get_object()["containers"] = containers_of(*pod);
      } else if (is_awaited(state, id)) {
        replicas.push_back(entry_of(name, "", phase));
      } else {
        std::string_view uid = pod != nullptr ? std::string_view(pod->uid) : known_uid(name);
        if (uid.empty() && !state.outcome_of(id)) continue;  // it never had a pod
        phase = ReplicaPhase::kDeleted;
        replicas.push_back(entry_of(name, uid, phase));
      }
      ++counts[static_cast<size_t>(phase)];
    }
    json::object task;
    task.reserve(3);
    task.emplace("type", role.name);
    int restarts =
        static_cast<size_t>(r) < state.roles.size() ? state.roles[static_cast<size_t>(r)].restarts : 0;
    if (restarts > 0) task.emplace("restartCount", restarts);
    task.emplace("replicas", std::move(replicas));
    status.tasks.push_back(std::move(task));
  }
  status.aggregate.reserve(kCountKeys.size());
  for (size_t i = 0; i < kCountKeys.size(); ++i)
    status.aggregate.emplace(kube::jview(kCountKeys[i]), counts[i]);
  return status;
}

}  // namespace trainyard::t9k
