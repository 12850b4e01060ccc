#include "cli/verbs_replicas.h"

#include <fmt/format.h>

#include <map>

#include "kube/access.h"
#include "kube/pod.h"

namespace trainyard::cli {
namespace {

// The replica whose end decides the job: the one that its success rule names, else the first.
model::ReplicaId deciding_replica(const model::JobSpec& spec) {
  if (const auto* main = std::get_if<model::MainReplica>(&spec.success)) return main->id;
  if (const auto* role = std::get_if<model::WholeRole>(&spec.success)) return {role->role, 0};
  for (size_t role = 0; role < spec.roles.size(); ++role) {
    if (spec.roles[role].replicas > 0) return {static_cast<int>(role), 0};
  }
  return {};
}

std::string roles_of(const model::JobSpec& spec) {
  std::string text;
  for (const model::Role& role : spec.roles) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", role.name, role.replicas);
  }
  return text;
}

Result<std::vector<model::ReplicaId>> chosen_ids(const FoundJob& job, const model::JobSpec& spec,
                                                 const ReplicaChoice& choice, bool deciding) {
  std::vector<model::ReplicaId> ids;
  if (choice.role.empty() && !choice.index && deciding) return std::vector{deciding_replica(spec)};
  int role = choice.role.empty() ? -1 : spec.role_named(choice.role);
  if (!choice.role.empty() && role < 0) {
    return Error{ErrorKind::kInvalid,
                 fmt::format("{} has no role '{}'; it has {}", job.title(), choice.role, roles_of(spec))};
  }
  if (role < 0 && choice.index && spec.roles.size() != 1) {
    return Error{ErrorKind::kInvalid,
                 fmt::format("--index needs a --role: {} has {}", job.title(), roles_of(spec))};
  }
  for (size_t r = 0; r < spec.roles.size(); ++r) {
    if (role >= 0 && static_cast<int>(r) != role) continue;
    for (int i = 0; i < spec.roles[r].replicas; ++i) {
      if (!choice.index || *choice.index == i) ids.push_back({static_cast<int>(r), i});
    }
  }
  if (ids.empty()) {
    return Error{ErrorKind::kInvalid,
                 fmt::format("{} has no such replica; it has {}", job.title(), roles_of(spec))};
  }
  return ids;
}

}  // namespace

std::string main_container_of(const dialect::Dialect* dialect, const json::object& pod) {
  const json::array* containers = kube::array_at(pod, {"spec", "containers"});
  std::string first;
  for (const json::value& value : kube::or_empty(containers)) {
    if (!value.is_object()) continue;
    std::string name(kube::text_at(value.get_object(), {"name"}));
    if (dialect != nullptr && name == dialect->main_container) return name;
    if (first.empty()) first = name;
  }
  return first;
}

std::optional<std::string> no_such_container(const json::object& pod, const std::string& container) {
  std::string names;
  for (const char* list : {"containers", "initContainers"}) {
    for (const json::value& value : kube::or_empty(kube::array_at(pod, {"spec", list}))) {
      if (!value.is_object()) continue;
      std::string_view name = kube::text_at(value.get_object(), {"name"});
      if (name == container) return std::nullopt;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
  }
  return fmt::format("it has no container '{}'; it has {}", container, names);
}

int64_t starts_of(const json::object& pod, const std::string& container) {
  kube::Pod decoded = kube::decode_pod(pod);
  const kube::ContainerStatus* status = decoded.container(container);
  if (status == nullptr) return -1;
  bool begun = status->state != kube::ContainerStateKind::kWaiting || status->restart_count > 0;
  return begun ? status->restart_count : -1;
}

Result<std::vector<ReplicaPod>> choose_replicas(const FoundJob& job, const std::vector<client::Object>& pods,
                                                const ReplicaChoice& choice, bool deciding) {
  dialect::LowerResult lowered = job.dialect->lower(*job.object, {});
  const auto* spec = std::get_if<model::JobSpec>(&lowered);
  if (spec == nullptr) {
    return Error{ErrorKind::kInvalid,
                 fmt::format("{} is not valid and has no replicas: {}", job.title(),
                             dialect::join(std::get<std::vector<dialect::Problem>>(lowered)))};
  }
  Result<std::vector<model::ReplicaId>> ids = chosen_ids(job, *spec, choice, deciding);
  if (!ids.ok()) return ids.error();
  std::map<std::pair<std::string, int>, client::Object> newest;
  for (const client::Object& pod : pods) {
    std::optional<dialect::PodIdentity> identity = job.dialect->identify(*pod);
    if (!identity) continue;
    client::Object& known = newest[{identity->role, identity->index}];
    if (known == nullptr || kube::creation_time_of(*known) < kube::creation_time_of(*pod)) known = pod;
  }
  std::vector<ReplicaPod> replicas;
  for (model::ReplicaId id : *ids) {
    const std::string& role = spec->roles[static_cast<size_t>(id.role)].name;
    ReplicaPod replica{fmt::format("{}-{}", role, id.index), spec->pod_name(id), nullptr, ""};
    if (auto found = newest.find({role, id.index}); found != newest.end()) {
      replica.pod = found->second;
      replica.pod_name = kube::name_of(*replica.pod);
    }
    model::JobState state;
    state.roles.resize(spec->roles.size());
    replica.container =
        replica.pod != nullptr
            ? main_container_of(job.dialect, *replica.pod)
            : main_container_of(job.dialect, job.dialect->render_pod(*spec, {}, {id, 0, &state}));
    replicas.push_back(std::move(replica));
  }
  return replicas;
}

}  // namespace trainyard::cli
