#include "dialect/tfjob/render.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "base/check.h"
#include "dialect/shared/gang.h"
#include "dialect/shared/pod_template.h"
#include "dialect/tfjob/decode.h"
#include "dialect/tfjob/job_service.h"
#include "dialect/tfjob/restart_rules.h"
#include "dialect/tfjob/tf_config.h"
#include "dialect/tfjob/tf_gang.h"
#include "kube/access.h"
#include "kube/objects.h"

namespace trainyard::dialect::tf {
namespace {

kube::Pairs labels_of(const model::JobSpec& spec, model::ReplicaId id) {
  return {{std::string(kJobNameLabel), spec.name},
          {std::string(kOperatorNameLabel), std::string(kOperatorName)},
          {std::string(kReplicaIndexLabel), fmt::to_string(id.index)},
          {std::string(kReplicaTypeLabel), spec.roles[id.role].name}};
}

// {} for a manifest that was never stored: what has no uid can own nothing.
json::object owner_of(const model::JobSpec& spec) {
  if (spec.uid.empty()) return {};
  return kube::owner_reference(kube::kTfJobs.api_version(), kube::kTfJobs.kind, spec.name, spec.uid);
}

// The replica that people look at first: the chief or master, else the first worker.
bool leads(const model::JobSpec& spec, model::ReplicaId id) {
  const std::string& name = spec.roles[id.role].name;
  if (name == "chief" || name == "master") return true;
  bool has_leader = spec.role_named("chief") >= 0 || spec.role_named("master") >= 0;
  return !has_leader && name == "worker" && id.index == 0;
}

const json::object& template_of(const model::JobSpec& spec, int role) {
  const json::object* found = template_in(*spec.source, spec.roles[role].title);
  CHECK(found != nullptr);
  return *found;
}

RestartPolicy policy_of(const model::JobSpec& spec, int role) {
  return restart_policy_named(
      kube::text_at(*spec.source, {"spec", "tfReplicaSpecs", spec.roles[role].title, "restartPolicy"}));
}

void join(json::object& pod, const model::JobSpec& spec, const Settings& settings, const std::string& role) {
  if (!spec.gang) return;
  model::Gang gang = *spec.gang;
  std::string_view own = kube::annotation_of(pod, kGroupNameAnnotation);
  if (!own.empty()) gang.name = own;
  join_gang(pod, gang, gang_scheduler_of(*spec.source, settings), role);
}

// A Service may not have a port without a name beside others, nor the same port twice.
std::vector<kube::ServicePort> service_ports(const json::object& container) {
  std::vector<kube::ServicePort> ports;
  std::set<std::pair<int64_t, std::string>> numbers;
  std::set<std::string> names;
  const json::array* list = kube::array_at(container, {"ports"});
  if (list == nullptr) return ports;
  for (const json::value& entry : *list) {
    const json::object* port = entry.if_object();
    if (port == nullptr) continue;
    int64_t number = kube::int_at(*port, {"containerPort"}).value_or(0);
    std::string protocol(kube::text_at(*port, {"protocol"}));
    if (protocol == "TCP") protocol.clear();
    std::string name(kube::text_at(*port, {"name"}));
    if (name.empty()) name = fmt::format("port-{}", number);
    if (!names.insert(name).second || !numbers.insert({number, protocol}).second) continue;
    ports.push_back({.name = name, .port = static_cast<int32_t>(number), .protocol = protocol});
  }
  return ports;
}

}  // namespace

json::object render_tf_pod(const model::JobSpec& spec, const Settings& settings, const PodContext& context) {
  const model::Role& role = spec.roles.at(context.id.role);
  json::object pod = pod_from_template(template_of(spec, context.id.role), spec.pod_name(context.id),
                                       spec.name_space, owner_of(spec), context.attempt);
  for (const auto& [key, value] : labels_of(spec, context.id)) set_label(pod, key, value);
  if (leads(spec, context.id)) set_label(pod, kJobRoleLabel, "master");
  std::string_view policy = pod_restart_policy(policy_of(spec, context.id.role), role.restarts_in_place);
  kube::ensure_object(pod, {"spec"})["restartPolicy"] = kube::jview(policy);
  std::string config = tf_config(spec, settings, context.id);
  json::object* container = main_container(pod, kTfContainer);
  if (!config.empty() && container != nullptr) append_env(*container, "TF_CONFIG", config);
  if (!spec.service_per_replica) name_host(pod, spec, context.id);
  join(pod, spec, settings, role.name);
  return pod;
}

json::object render_tf_service(const model::JobSpec& spec, model::ReplicaId id) {
  kube::NewMeta meta{.name = spec.pod_name(id), .ns = spec.name_space, .labels = labels_of(spec, id)};
  if (!spec.uid.empty()) meta.owner = owner_of(spec);
  const json::object* container = main_container(template_of(spec, id.role), kTfContainer);
  CHECK(container != nullptr);
  return kube::headless_service(meta, labels_of(spec, id), service_ports(*container));
}

json::object render_tf_gang(const model::JobSpec& spec) {
  CHECK(spec.gang.has_value());
  json::object meta;
  json::object annotations;
  if (const json::object* given = kube::object_at(*spec.source, {"metadata", "annotations"})) {
    for (const auto& member : *given) {
      std::string_view key(member.key().data(), member.key().size());
      bool ours = (key.starts_with("trainyard.dev/") && !places_gang(key)) ||
                  key == "kubectl.kubernetes.io/last-applied-configuration";
      if (!ours) annotations[member.key()] = member.value();
    }
  }
  if (!annotations.empty()) meta["annotations"] = std::move(annotations);
  json::object owner = owner_of(spec);
  if (!owner.empty()) meta["ownerReferences"] = json::array{owner};
  return render_pod_group(*spec.gang, spec.name_space, meta);
}

std::optional<PodIdentity> identify_tf_pod(const json::object& pod) {
  std::string_view text = kube::label_of(pod, kReplicaIndexLabel);
  PodIdentity identity;
  identity.role = kube::label_of(pod, kReplicaTypeLabel);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), identity.index);
  bool whole = error == std::errc() && end == text.data() + text.size() && identity.index >= 0;
  if (identity.role.empty() || !whole) return std::nullopt;
  return identity;
}

std::string tf_job_name_of(const json::object& pod_or_service) {
  return std::string(kube::label_of(pod_or_service, kJobNameLabel));
}

}  // namespace trainyard::dialect::tf
