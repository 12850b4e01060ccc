#include "dialect/shared/gang.h"

#include <algorithm>

#include "dialect/shared/pod_template.h"
#include "kube/access.h"
#include "kube/objects.h"
#include "kube/quantity.h"
#include "kube/scheduling.h"

namespace trainyard::dialect {
namespace {

using model::GangPhase;
using model::GangScheduler;

void put_text(json::object& into, std::string_view key, std::string_view text) {
  if (!text.empty()) into[kube::jview(key)] = kube::jview(text);
}

void put_resources(json::object& spec, const model::Gang& gang) {
  if (gang.min_resources.empty()) return;
  json::object amounts;
  for (const auto& [name, amount] : gang.min_resources) amounts[name] = amount;
  spec["minResources"] = std::move(amounts);
}

json::object volcano_spec(const model::Gang& gang) {
  json::object spec;
  spec["minMember"] = gang.min_member;
  if (!gang.min_per_role.empty()) {
    json::object per_role;
    for (const auto& [role, least] : gang.min_per_role) per_role[role] = least;
    spec["minTaskMember"] = std::move(per_role);
  }
  put_resources(spec, gang);
  put_text(spec, "queue", gang.queue);
  put_text(spec, "priorityClassName", gang.priority_class);
  return spec;
}

json::object kube_batch_spec(const model::Gang& gang) {
  json::object spec;
  spec["minMember"] = gang.min_member;
  put_text(spec, "queue", gang.queue);
  put_text(spec, "priorityClassName", gang.priority_class);
  return spec;
}

json::object coscheduling_spec(const model::Gang& gang) {
  json::object spec;
  spec["minMember"] = gang.min_member;
  put_resources(spec, gang);
  if (gang.timeout_seconds) spec["scheduleTimeoutSeconds"] = *gang.timeout_seconds;
  return spec;
}

json::object t9k_spec(const model::Gang& gang) {
  json::object spec;
  spec["minMember"] = gang.min_member;
  if (!gang.min_per_role.empty()) {
    json::array roles;
    for (const auto& [role, least] : gang.min_per_role) {
      roles.push_back(json::object{{"name", role}, {"minMember", least}});
    }
    spec["roles"] = std::move(roles);
  }
  put_text(spec, "queue", gang.queue);
  spec["priority"] = gang.priority;
  return spec;
}

json::object spec_of(const model::Gang& gang) {
  switch (gang.scheduler) {
    case GangScheduler::kVolcano:
      return volcano_spec(gang);
    case GangScheduler::kKubeBatch:
      return kube_batch_spec(gang);
    case GangScheduler::kCoscheduling:
      return coscheduling_spec(gang);
    case GangScheduler::kT9k:
      return t9k_spec(gang);
  }
  return {};
}

GangPhase phase_of(GangScheduler scheduler, std::string_view phase) {
  if (scheduler != GangScheduler::kVolcano) return GangPhase::kAdmitted;
  if (phase == "Inqueue") return GangPhase::kAdmitted;
  if (phase == "Running" || phase == "Completed") return GangPhase::kRunning;
  if (phase == "Unknown") return GangPhase::kLost;
  return GangPhase::kPending;
}

// What the scheduler says about a group that it cannot place.
std::string complaint_of(const kube::PodGroup& group) {
  for (const kube::Condition& condition : group.conditions) {
    bool good_news = condition.type == "Scheduled" || condition.type == "SufficientGroupMember" ||
                     condition.type == "GroupScheduled";
    if (good_news != condition.is_true() && !condition.message.empty()) return condition.message;
  }
  return "";
}

using Amounts = std::map<std::string, kube::Quantity>;

void add(Amounts& sum, const Amounts& more, int64_t times) {
  for (const auto& [name, amount] : more) {
    Result<kube::Quantity> part = amount.times(times);
    if (!part.ok()) continue;  // beyond what can be written: such a pod fits nowhere anyway
    Result<kube::Quantity> whole = sum.contains(name) ? sum[name].plus(*part) : part;
    if (whole.ok()) sum[name] = *whole;
  }
}

Amounts amounts_of(const json::object& pod_template) {
  Amounts sum;
  const json::array* containers = kube::array_at(pod_template, {"spec", "containers"});
  if (containers == nullptr) return sum;
  for (const json::value& entry : *containers) {
    const json::object* container = entry.if_object();
    if (container == nullptr) continue;
    const json::object* list = kube::object_at(*container, {"resources", "requests"});
    if (list == nullptr) list = kube::object_at(*container, {"resources", "limits"});
    add(sum, kube::decode_resources(list), 1);
  }
  return sum;
}

std::map<std::string, std::string> written(const Amounts& amounts) {
  std::map<std::string, std::string> text;
  for (const auto& [name, amount] : amounts) text[name] = amount.to_string();
  return text;
}

}  // namespace

kube::Resource resource_of(GangScheduler scheduler) {
  switch (scheduler) {
    case GangScheduler::kVolcano:
      return kube::kVolcanoPodGroups;
    case GangScheduler::kKubeBatch:
      return kube::kKubeBatchPodGroups;
    case GangScheduler::kCoscheduling:
      return kube::kCoschedulingPodGroups;
    case GangScheduler::kT9k:
      return kube::kT9kPodGroups;
  }
  return kube::kVolcanoPodGroups;
}

json::object render_pod_group(const model::Gang& gang, std::string_view name_space,
                              const json::object& meta) {
  kube::Resource resource = resource_of(gang.scheduler);
  json::object group;
  group["apiVersion"] = resource.api_version();
  group["kind"] = kube::jview(resource.kind);
  json::object metadata;
  metadata["name"] = gang.name;
  put_text(metadata, "namespace", name_space);
  for (const auto& member : meta) metadata[member.key()] = member.value();
  group["metadata"] = std::move(metadata);
  if (!gang.placed_by.empty()) set_annotation(group, kube::kPlacedByAnnotation, gang.placed_by);
  group["spec"] = spec_of(gang);
  return group;
}

bool places_gang(std::string_view annotation) {
  return annotation == kube::kSameTopologyAnnotation || annotation == kube::kPreferSameTopologyAnnotation;
}

model::GangSeen decode_gang(GangScheduler scheduler, const json::object& pod_group) {
  kube::PodGroup group = kube::decode_pod_group(pod_group);
  model::GangSeen seen;
  seen.uid = group.uid;
  seen.owned = !group.controller_uid.empty();
  seen.phase = phase_of(scheduler, group.phase);
  seen.message = complaint_of(group);
  seen.spec.scheduler = scheduler;
  seen.spec.name = group.name;
  seen.spec.owned = seen.owned;
  seen.spec.gates_pods = scheduler == GangScheduler::kVolcano;
  seen.spec.placed_by = kube::annotation_of(pod_group, kube::kPlacedByAnnotation);
  seen.spec.min_member = group.min_member;
  for (const auto& [role, least] : group.min_task_member) seen.spec.min_per_role[role] = least;
  seen.spec.min_resources = written(group.min_resources);
  seen.spec.queue = group.queue;
  seen.spec.priority_class = group.priority_class;
  seen.spec.priority = group.priority;
  if (group.schedule_timeout_seconds)
    seen.spec.timeout_seconds = static_cast<int>(*group.schedule_timeout_seconds);
  return seen;
}

model::Gang storable(const model::Gang& gang) {
  model::Gang kept = decode_gang(gang.scheduler, render_pod_group(gang, "", {})).spec;
  kept.owned = gang.owned;
  kept.gates_pods = gang.gates_pods;
  return kept;
}

void join_gang(json::object& pod, const model::Gang& gang, std::string_view scheduler_name,
               std::string_view role) {
  json::object& spec = kube::ensure_object(pod, {"spec"});
  if (kube::text_at(spec, {"schedulerName"}).empty()) spec["schedulerName"] = kube::jview(scheduler_name);
  switch (gang.scheduler) {
    case GangScheduler::kVolcano:
      set_annotation(pod, "scheduling.k8s.io/group-name", gang.name);
      set_annotation(pod, "volcano.sh/task-spec", role);
      break;
    case GangScheduler::kKubeBatch:
      set_annotation(pod, "scheduling.k8s.io/group-name", gang.name);
      break;
    case GangScheduler::kCoscheduling:
      set_label(pod, "scheduling.x-k8s.io/pod-group", gang.name);
      break;
    case GangScheduler::kT9k:
      set_label(pod, "scheduler.tensorstack.dev/group-name", gang.name);
      if (!role.empty()) set_label(pod, "scheduler.tensorstack.dev/role", role);
      break;
  }
}

std::map<std::string, std::string> pod_requests(const json::object& pod_template) {
  return written(amounts_of(pod_template));
}

std::map<std::string, std::string> gang_requests(std::span<const GangPart> parts, int min_member) {
  Amounts sum;
  int left = min_member;
  for (const GangPart& part : parts) {
    int taken = std::min(left, part.replicas);
    if (taken <= 0) continue;
    add(sum, amounts_of(*part.pod_template), taken);
    left -= taken;
  }
  return written(sum);
}

}  // namespace trainyard::dialect
