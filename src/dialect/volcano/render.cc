#include "dialect/volcano/render.h"

#include <fmt/format.h>

#include <charconv>

#include "base/check.h"
#include "dialect/shared/gang.h"
#include "dialect/shared/pod_template.h"
#include "dialect/volcano/claims.h"
#include "dialect/volcano/decode.h"
#include "dialect/volcano/keys.h"
#include "dialect/volcano/plugin_env.h"
#include "dialect/volcano/plugin_ssh.h"
#include "dialect/volcano/plugin_svc.h"
#include "dialect/volcano/plugin_tensorflow.h"
#include "dialect/volcano/project.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::dialect::vc {
namespace {

json::object owner_of(const model::JobSpec& job) {
  if (job.uid.empty()) return {};
  return kube::owner_reference(kube::kVolcanoJobs.api_version(), kube::kVolcanoJobs.kind, job.name, job.uid);
}

void copy_annotation(const json::object& from, std::string_view key, json::object& pod) {
  const json::value* found = kube::find(from, {"metadata", "annotations", key});
  if (found != nullptr && found->is_string()) set_annotation(pod, key, kube::view(found->get_string()));
}

void copy_label(const json::object& from, std::string_view key, json::object& pod) {
  const json::value* found = kube::find(from, {"metadata", "labels", key});
  if (found != nullptr && found->is_string()) set_label(pod, key, kube::view(found->get_string()));
}

void add_labels(const Spec& spec, const Task& task, int index, const json::object& source,
                json::object& pod) {
  set_label(pod, kTaskIndex, fmt::to_string(index));
  set_label(pod, kJobName, spec.name);
  set_label(pod, kTaskSpec, task.name);
  set_label(pod, kJobNamespace, namespace_label(spec));
  set_label(pod, kQueueName, spec.queue);
  if (task.partitions) set_label(pod, kPartitionId, fmt::to_string(index / task.partitions->size));
  copy_label(source, kPreemptable, pod);
  copy_label(source, kCooldownTime, pod);
}

void add_annotations(const Spec& spec, const Task& task, int index, const model::JobState& state,
                     const json::object& source, json::object& pod) {
  set_annotation(pod, kTaskIndex, fmt::to_string(index));
  set_annotation(pod, kTaskSpec, task.name);
  set_annotation(pod, kJobName, spec.name);
  set_annotation(pod, kQueueName, spec.queue);
  set_annotation(pod, kJobVersion, fmt::to_string(state.kills));
  set_annotation(pod, kTemplateUid, fmt::format("{}-{}", spec.name, task.name));
  set_annotation(pod, kJobRetryCount, fmt::to_string(retry_count(state)));
  if (!task.topology_policy.empty()) set_annotation(pod, kNumaPolicy, task.topology_policy);
  for (std::string_view key : {kPreemptable, kCooldownTime, kRevocableZone})
    copy_annotation(source, key, pod);
  bool has_minimum = kube::find(source, {"metadata", "annotations", kMinAvailableBudget}) != nullptr;
  copy_annotation(source, has_minimum ? kMinAvailableBudget : kMaxUnavailableBudget, pod);
}

void apply_plugins(const Spec& spec, const Task& task, int index, json::object& pod) {
  if (spec.plugins.env) apply(*spec.plugins.env, index, pod);
  if (spec.plugins.ssh) apply(*spec.plugins.ssh, spec, pod);
  if (spec.plugins.svc) apply(*spec.plugins.svc, spec, pod);
  if (spec.plugins.tensorflow) apply(*spec.plugins.tensorflow, spec, task, index, pod);
}

// {mode, and one of the two tiers}, as the PodGroup has it.
std::optional<json::object> topology_of(const json::object& owner) {
  const json::object* given = kube::object_at(owner, {"networkTopology"});
  if (given == nullptr) return std::nullopt;
  json::object topology;
  std::string_view mode = kube::text_at(*given, {"mode"});
  topology["mode"] = kube::jview(mode.empty() ? "hard" : mode);
  std::string_view tier = kube::text_at(*given, {"highestTierName"});
  if (std::optional<int64_t> allowed = kube::int_at(*given, {"highestTierAllowed"})) {
    topology["highestTierAllowed"] = *allowed;
  } else if (!tier.empty()) {
    topology["highestTierName"] = kube::jview(tier);
  }
  return topology;
}

json::array sub_groups(const Spec& spec, const json::array& tasks) {
  json::array groups;
  for (size_t i = 0; i < spec.tasks.size(); ++i) {
    const Task& task = spec.tasks[i];
    if (!task.partitions) continue;
    json::object group;
    group["name"] = task.name;
    group["subGroupSize"] = task.partitions->size;
    if (task.partitions->min > 0) group["minSubGroups"] = task.partitions->min;
    json::object selector;
    selector["matchLabels"] = {{kube::jview(kTaskSpec), task.name}};
    group["labelSelector"] = std::move(selector);
    group["matchLabelKeys"] = json::array{kube::jview(kPartitionId)};
    const json::object* policy = kube::object_at(tasks[i].get_object(), {"partitionPolicy"});
    if (std::optional<json::object> topology = topology_of(*policy))
      group["networkTopology"] = std::move(*topology);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

json::object render_pod(const model::JobSpec& job, const Settings&, const PodContext& context) {
  CHECK(context.state != nullptr);
  const Spec& spec = spec_of(job);
  CHECK(context.id.role >= 0 && context.id.role < static_cast<int>(spec.tasks.size()));
  const Task& task = spec.tasks[context.id.role];
  json::object pod = pod_from_template(*task.pod_template, job.pod_name(context.id), job.name_space,
                                       owner_of(job), context.attempt);
  join_gang(pod, *job.gang, spec.scheduler_name, task.name);
  json::object& pod_spec = kube::ensure_object(pod, {"spec"});
  if (kube::text_at(pod_spec, {"priorityClassName"}).empty() && !spec.priority_class.empty()) {
    pod_spec["priorityClassName"] = spec.priority_class;
  }
  mount_claims(spec, pod);
  add_annotations(spec, task, context.id.index, *context.state, *job.source, pod);
  add_labels(spec, task, context.id.index, *job.source, pod);
  apply_plugins(spec, task, context.id.index, pod);
  return pod;
}

json::object render_companion(const model::JobSpec& job, const model::Companion& companion,
                              const KeyPair* keys) {
  const Spec& spec = spec_of(job);
  json::object owner = owner_of(job);
  json::object body;
  switch (companion.kind) {
    case model::CompanionKind::kService:
      CHECK(spec.plugins.svc.has_value());
      body = render_job_service(*spec.plugins.svc, spec, owner);
      break;
    case model::CompanionKind::kConfigMap:
      body = render_hosts(spec, owner);
      break;
    case model::CompanionKind::kNetworkPolicy:
      body = render_job_network_policy(spec, owner);
      break;
    case model::CompanionKind::kSecret:
      CHECK(spec.plugins.ssh.has_value());
      body = render_ssh_secret(*spec.plugins.ssh, spec, owner, keys);
      break;
    case model::CompanionKind::kPersistentVolumeClaim:
      body = render_claim(spec, companion.name, owner);
      break;
  }
  set_annotation(body, kDigestAnnotation, fmt::to_string(companion.digest));
  return body;
}

json::object render_gang(const model::JobSpec& job) {
  CHECK(job.gang.has_value());
  const Spec& spec = spec_of(job);
  json::object meta;
  for (std::string_view key : {"labels", "annotations"}) {
    const json::object* given = kube::object_at(*job.source, {"metadata", key});
    if (given == nullptr || given->empty()) continue;
    json::object copy = *given;
    copy.erase("kubectl.kubernetes.io/last-applied-configuration");
    if (!copy.empty()) meta[kube::jview(key)] = std::move(copy);
  }
  json::object owner = owner_of(job);
  if (!owner.empty()) meta["ownerReferences"] = json::array{owner};
  json::object group = render_pod_group(*job.gang, job.name_space, meta);
  json::object& group_spec = kube::ensure_object(group, {"spec"});
  const json::object& job_spec = *kube::object_at(*job.source, {"spec"});
  if (std::optional<json::object> topology = topology_of(job_spec)) {
    group_spec["networkTopology"] = std::move(*topology);
  }
  json::array groups = sub_groups(spec, *kube::array_at(job_spec, {"tasks"}));
  if (!groups.empty()) group_spec["subGroupPolicy"] = std::move(groups);
  return group;
}

std::optional<PodIdentity> identify(const json::object& pod) {
  std::string_view task = kube::label_of(pod, kTaskSpec);
  if (task.empty()) task = kube::annotation_of(pod, kTaskSpec);
  std::string_view text = kube::label_of(pod, kTaskIndex);
  if (text.empty()) text = kube::annotation_of(pod, kTaskIndex);
  int index = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (task.empty() || text.empty() || error != std::errc() || end != text.data() + text.size() || index < 0) {
    return std::nullopt;
  }
  return PodIdentity{std::string(task), index};
}

std::string job_name_of(const json::object& object) { return std::string(kube::label_of(object, kJobName)); }

}  // namespace trainyard::dialect::vc
