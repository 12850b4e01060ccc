#include "dialect/t9k/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "dialect/shared/gang.h"
#include "dialect/shared/pod_template.h"
#include "dialect/t9k/cluster.h"
#include "dialect/t9k/decode.h"
#include "dialect/t9k/overrides.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/objects.h"

namespace trainyard::t9k {
namespace {

constexpr std::string_view kComponentLabel = "tensorstack.dev/component";
constexpr std::string_view kComponent = "tensorflowtrainingjob";
constexpr std::string_view kSchedulerName = "t9k-scheduler";
constexpr std::string_view kQueueLabel = "scheduler.tensorstack.dev/queue";

// {} for a manifest that was never stored: it has no uid to refer to.
json::object owner_of(const model::JobSpec& spec) {
  if (spec.uid.empty()) return {};
  return kube::owner_reference(kube::kT9kJobs.api_version(), kube::kT9kJobs.kind, spec.name, spec.uid);
}

kube::Pairs job_labels(const model::JobSpec& spec) {
  return {{std::string(kComponentLabel), std::string(kComponent)},
          {"tensorstack.dev/component-type", "user"},
          {"tensorstack.dev/owner-kind", std::string(kube::kT9kJobs.kind)},
          {std::string(kOwnerLabel), spec.name}};
}

// The labels that tell one replica of one job from all others.
kube::Pairs replica_selector(const model::JobSpec& spec, model::ReplicaId id) {
  return {{std::string(kComponentLabel), std::string(kComponent)},
          {std::string(kOwnerLabel), spec.name},
          {std::string(kTypeLabel), spec.roles[static_cast<size_t>(id.role)].name},
          {std::string(kIndexLabel), fmt::to_string(id.index)}};
}

kube::Pairs replica_labels(const model::JobSpec& spec, model::ReplicaId id) {
  kube::Pairs labels = job_labels(spec);
  labels.emplace_back(kTypeLabel, spec.roles[static_cast<size_t>(id.role)].name);
  labels.emplace_back(kIndexLabel, fmt::to_string(id.index));
  const model::MainReplica* main = std::get_if<model::MainReplica>(&spec.success);
  if (main != nullptr && main->id == id) labels.emplace_back("job-role", "master");
  return labels;
}

kube::NewMeta meta_of(const model::JobSpec& spec, std::string name, kube::Pairs labels) {
  kube::NewMeta meta{.name = std::move(name), .ns = spec.name_space, .labels = std::move(labels)};
  json::object owner = owner_of(spec);
  if (!owner.empty()) meta.owner = std::move(owner);
  return meta;
}

// The job names its scheduler; a template that names another would be left out of the gang.
void queue_pod(const model::JobSpec& spec, std::string_view type, json::object& pod) {
  if (!spec.gang) return;
  kube::ensure_object(pod, {"spec"})["schedulerName"] = kube::jview(kSchedulerName);
  dialect::join_gang(pod, *spec.gang, kSchedulerName, type);
  dialect::set_label(pod, kQueueLabel, spec.gang->queue);
}

}  // namespace

json::object render_pod(const model::JobSpec& spec, const dialect::Settings& settings,
                        const dialect::PodContext& context) {
  const std::string& type = spec.roles.at(static_cast<size_t>(context.id.role)).name;
  json::object pod = dialect::pod_from_template(template_of(spec, type), spec.pod_name(context.id),
                                                spec.name_space, owner_of(spec), context.attempt);
  for (const auto& [key, value] : replica_labels(spec, context.id)) dialect::set_label(pod, key, value);
  // Restarts are ours to make and to count: the kubelet never restarts a container.
  kube::ensure_object(pod, {"spec"})["restartPolicy"] = "Never";
  int resumes = context.state ? context.state->resumes : 0;
  if (std::optional<Override> override = override_for(*spec.source, type, resumes)) {
    apply_override(*override, kMainContainer, pod);
  }
  if (json::object* container = dialect::main_container(pod, kMainContainer)) {
    dialect::append_env(*container, "TF_CONFIG", tf_config(spec, settings, context.id));
  }
  queue_pod(spec, type, pod);
  return pod;
}

json::object render_service(const model::JobSpec& spec, model::ReplicaId id) {
  const std::string& type = spec.roles.at(static_cast<size_t>(id.role)).name;
  // Replicas look one another up while they start, before any of them is ready.
  return kube::headless_service(meta_of(spec, spec.pod_name(id), replica_labels(spec, id)),
                                replica_selector(spec, id), ports_of(template_of(spec, type)),
                                /*publish_not_ready_addresses=*/true);
}

json::object render_gang(const model::JobSpec& spec) {
  CHECK(spec.gang.has_value());
  json::object meta{{"labels", kube::to_object(job_labels(spec))}};
  if (const json::object* given = kube::object_at(*spec.source, {"metadata", "annotations"})) {
    for (const auto& member : *given) {
      if (!dialect::places_gang(kube::view(member.key()))) continue;
      kube::ensure_object(meta, {"annotations"})[member.key()] = member.value();
    }
  }
  json::object owner = owner_of(spec);
  if (!owner.empty()) meta["ownerReferences"] = json::array{owner};
  return dialect::render_pod_group(*spec.gang, spec.name_space, meta);
}

namespace {

// Every claim that a replica mounts, once, as logDir names them.
json::array claims_of(const json::object& source) {
  json::array claims;
  const json::array* roles = kube::array_at(source, {"spec", "replicaSpecs"});
  for (size_t i = 0; roles != nullptr && i < roles->size(); ++i) {
    const json::object* role = (*roles)[i].if_object();
    const json::array* volumes =
        role != nullptr ? kube::array_at(*role, {"template", "spec", "volumes"}) : nullptr;
    for (size_t j = 0; volumes != nullptr && j < volumes->size(); ++j) {
      const json::object* volume = (*volumes)[j].if_object();
      if (volume == nullptr) continue;
      std::string_view name = kube::text_at(*volume, {"persistentVolumeClaim", "claimName"});
      json::value claim = json::object{{"name", kube::jview(name)}};
      if (!name.empty() && std::find(claims.begin(), claims.end(), claim) == claims.end())
        claims.push_back(std::move(claim));
    }
  }
  return claims;
}

}  // namespace

json::object render_tensorboard(const model::JobSpec& spec) {
  CHECK(spec.tensorboard.has_value());
  json::object board =
      kube::new_object(kube::kTensorBoards, meta_of(spec, *spec.tensorboard, job_labels(spec)));
  const json::object* wanted = kube::object_at(*spec.source, {"spec", "tensorboardSpec"});
  json::object& own = (board["spec"] = wanted ? *wanted : json::object()).get_object();
  if (!own.contains("logDir") && !own.contains("trainingLogFilesets")) {
    // No logs are named: they are where the job writes.
    json::array claims = claims_of(*spec.source);
    if (!claims.empty()) own["logDir"] = json::object{{"pvc", std::move(claims)}};
  }
  return board;
}

std::optional<dialect::PodIdentity> identify(const json::object& pod) {
  std::string_view type = kube::label_of(pod, kTypeLabel);
  std::string_view text = kube::label_of(pod, kIndexLabel);
  int index = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (type.empty() || error != std::errc{} || end != text.data() + text.size() || index < 0)
    return std::nullopt;
  return dialect::PodIdentity{std::string(type), index};
}

std::string job_name_of(const json::object& pod_or_service) {
  return std::string(kube::label_of(pod_or_service, kOwnerLabel));
}

}  // namespace trainyard::t9k
