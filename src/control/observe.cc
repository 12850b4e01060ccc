#include "control/observe.h"

#include <charconv>

#include "kube/access.h"
#include "kube/objects.h"

namespace trainyard::control {

using model::CommandSeen;
using model::CompanionSeen;
using model::JobSpec;
using model::PodSeen;
using model::ReplicaId;
using model::ServiceSeen;

namespace {

// On a job that is being deleted with propagation policy Orphan.
constexpr std::string_view kOrphanFinalizer = "orphan";

int parse_index(std::string_view text) {
  int index = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc{} && end == text.data() + text.size() && index >= 0 ? index : -1;
}

// Which replica an object of that name belongs to; role -1 when to none.
ReplicaId replica_named(const JobSpec& spec, std::string_view name) {
  size_t dash = name.rfind('-');
  int index = dash == std::string_view::npos ? -1 : parse_index(name.substr(dash + 1));
  for (size_t role = 0; role < spec.roles.size() && index >= 0; ++role) {
    ReplicaId id{static_cast<int>(role), index};
    if (spec.pod_name(id) == name) return id;
  }
  return {-1, 0};
}

// What was made for another job and then given to this one bears another name: it is no replica of this one,
// and its name is wanted where it came from.
ReplicaId replica_of(const JobSpec& spec, const std::optional<dialect::PodIdentity>& identity,
                     std::string_view name) {
  if (!identity) return replica_named(spec, name);
  ReplicaId id{spec.role_named(identity->role), identity->index};
  return id.role >= 0 && !spec.is_pod_name(id, name) ? ReplicaId{-1, 0} : id;
}

// order: id, name, gone ones first (they are the older), uid
std::vector<PodSeen> see_pods(const client::Cache& cache, const JobKey& key, const dialect::Dialect& dialect,
                              const JobSpec& spec, SeenOf<PodRead>& memory) {
  std::vector<PodSeen> pods;
  const std::vector<PodRead>& there = memory.of(key, cache, spec.uid, dialect);
  std::vector<client::Object> ended = cache.tombstones_of(spec.uid);
  pods.reserve(there.size() + ended.size());
  auto see = [&](const PodRead& read) -> PodSeen& {
    PodSeen& pod = pods.emplace_back(read.pod);
    pod.id = replica_of(spec, read.identity, read.key.name);
    return pod;
  };
  for (const PodRead& read : there) see(read);
  for (const client::Object& object : ended) see(PodRead::by(dialect, *object)).gone = true;
  std::sort(pods.begin(), pods.end(), [](const PodSeen& a, const PodSeen& b) {
    return std::tie(a.id, a.name, b.gone, a.uid) < std::tie(b.id, b.name, a.gone, b.uid);
  });
  return pods;
}

bool is_companion(const JobSpec& spec, model::CompanionKind kind, std::string_view name) {
  return std::any_of(spec.companions.begin(), spec.companions.end(), [&](const model::Companion& companion) {
    return companion.kind == kind && companion.name == name;
  });
}

std::vector<ServiceSeen> see_services(const client::Cache& cache, const JobKey& key,
                                      const dialect::Dialect& dialect, const JobSpec& spec,
                                      SeenOf<ServiceRead>& memory) {
  std::vector<ServiceSeen> services;
  const std::vector<ServiceRead>& there = memory.of(key, cache, spec.uid, dialect);
  services.reserve(there.size());
  for (const ServiceRead& read : there) {
    const std::string& name = read.key.name;
    if (read.deleting || is_companion(spec, model::CompanionKind::kService, name)) continue;
    services.push_back({replica_of(spec, read.identity, name), name, read.uid});
  }
  std::sort(services.begin(), services.end(), [](const ServiceSeen& a, const ServiceSeen& b) {
    return std::tie(a.id, a.name) < std::tie(b.id, b.name);
  });
  return services;
}

std::vector<CompanionSeen> see_companions(const View& view, const JobSpec& spec) {
  std::vector<CompanionSeen> companions;
  for (const model::Companion& wanted : spec.companions) {
    auto stream = view.companions.find(wanted.kind);
    if (stream == view.companions.end()) continue;
    client::Object object = view.cache(stream->second, spec.name_space).find(spec.name_space, wanted.name);
    if (object == nullptr) continue;
    companions.push_back({wanted.kind, wanted.name, std::string(kube::uid_of(*object)),
                          parse_digest(kube::annotation_of(*object, dialect::kDigestAnnotation)),
                          kube::controller_uid_of(*object) == spec.uid});
  }
  std::sort(companions.begin(), companions.end(), [](const CompanionSeen& a, const CompanionSeen& b) {
    return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
  });
  return companions;
}

std::optional<model::GangSeen> see_gang(const View& view, const JobKey& key, const JobSpec& spec,
                                        SeenGangs& memory) {
  if (!spec.gang) return std::nullopt;
  auto stream = view.gangs.find(spec.gang->scheduler);
  if (stream == view.gangs.end()) return std::nullopt;
  client::Object object = view.cache(stream->second, spec.name_space).find(spec.name_space, spec.gang->name);
  if (object == nullptr) return std::nullopt;
  model::GangSeen seen = memory.of(key, spec.gang->scheduler, *object);
  seen.owned = kube::controller_uid_of(*object) == spec.uid;
  seen.spec.owned = seen.owned;
  return seen;
}

std::optional<model::TensorBoardSeen> see_tensorboard(const View& view, const JobSpec& spec) {
  if (!spec.tensorboard || view.tensorboards < 0) return std::nullopt;
  client::Object object =
      view.cache(view.tensorboards, spec.name_space).find(spec.name_space, *spec.tensorboard);
  if (object == nullptr) return std::nullopt;
  // Nobody's: somebody's own, or left behind by an earlier job of this name. It serves as it is.
  const std::string_view owner = kube::controller_uid_of(*object);
  if (!owner.empty() && owner != spec.uid) return std::nullopt;
  kube::TensorBoard board = kube::decode_tensor_board(*object);
  bool ready = board.is_ready();
  return model::TensorBoardSeen{std::move(board.name), std::move(board.uid), ready};
}

// order: creation, name
std::vector<CommandSeen> see_commands(const View& view, const dialect::Dialect& dialect,
                                      const JobSpec& spec) {
  if (dialect.see_command == nullptr || view.commands < 0) return {};
  std::vector<std::pair<Time, CommandSeen>> found;
  const auto& all = view.cache(view.commands, spec.name_space).all();
  for (auto it = all.lower_bound({spec.name_space, ""}); it != all.end() && it->first.ns == spec.name_space;
       ++it) {
    client::Object object = it->second.object();
    std::optional<dialect::CommandFor> command = dialect.see_command(*object);
    if (!command || command->job != spec.name) continue;
    if (!command->job_uid.empty() && command->job_uid != spec.uid) continue;
    found.emplace_back(kube::creation_time_of(*object).value_or(Time{}), std::move(command->seen));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.name) < std::tie(b.first, b.second.name);
  });
  std::vector<CommandSeen> commands;
  for (auto& [created, seen] : found) commands.push_back(std::move(seen));
  return commands;
}

}  // namespace

bool is_orphaning(const json::object& job) {
  return kube::is_deleting(job) && kube::has_finalizer(job, kOrphanFinalizer);
}

std::string format_digest(uint64_t digest) { return std::to_string(digest); }

uint64_t parse_digest(std::string_view text) {
  uint64_t digest = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digest);
  return error == std::errc{} && end == text.data() + text.size() ? digest : 0;
}

model::Observation observe(const View& view, const JobKey& key, const dialect::Dialect& dialect,
                           const json::object& job, model::JobSpec spec, model::JobState state) {
  Seen none;
  return observe(view, key, dialect, job, std::move(spec), std::move(state), none);
}

model::Observation observe(const View& view, const JobKey& key, const dialect::Dialect& dialect,
                           const json::object& job, model::JobSpec&& spec, model::JobState&& state,
                           Seen& memory) {
  const DialectStreams& streams = view.dialects[key.dialect];
  model::Observation seen;
  seen.deleting = kube::is_deleting(job);
  seen.has_finalizer = kube::has_finalizer(job, dialect::kFinalizer);
  // Of a job that is deleted while what it made is to stay, nothing is its own any more.
  if (!is_orphaning(job)) {
    seen.pods = see_pods(view.cache(streams.pods, key.ns), key, dialect, spec, memory.pods);
  }
  seen.services = see_services(view.cache(streams.services, key.ns), key, dialect, spec, memory.services);
  seen.companions = see_companions(view, spec);
  seen.gang = see_gang(view, key, spec, memory.gangs);
  seen.tensorboard = see_tensorboard(view, spec);
  seen.commands = see_commands(view, dialect, spec);
  seen.spec = std::move(spec);
  seen.state = std::move(state);
  return seen;
}

}  // namespace trainyard::control
