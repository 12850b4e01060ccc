#include "kube/access.h"
#include "kube/meta.h"
#include "kube/pod.h"
#include "sched/gangs_from.h"

namespace trainyard::sched {
namespace {

using kube::text_at;

constexpr std::string_view kGroupAnnotations[] = {"scheduling.k8s.io/group-name",
                                                  "scheduling.volcano.sh/group-name"};
constexpr std::string_view kCoschedulingLabel = "scheduling.x-k8s.io/pod-group";
constexpr std::string_view kT9kGroupLabel = "scheduler.tensorstack.dev/group-name";
constexpr std::string_view kT9kQueueLabel = "scheduler.tensorstack.dev/queue";
constexpr std::string_view kT9kRoleLabel = "scheduler.tensorstack.dev/role";
constexpr std::string_view kVolcanoQueue = "scheduling.volcano.sh/queue-name";
constexpr std::string_view kVolcanoTask = "volcano.sh/task-spec";
constexpr std::string_view kVolcanoPreemptable = "volcano.sh/preemptable";

void read_group(const json::object& pod, PodSeen& out) {
  for (std::string_view key : kGroupAnnotations) {
    if (out.group.empty()) out.group = kube::annotation_of(pod, key);
  }
  if (!out.group.empty()) {
    out.naming = GroupNaming::kAnnotation;
  } else if (out.group = kube::label_of(pod, kT9kGroupLabel); !out.group.empty()) {
    out.naming = GroupNaming::kT9k;
  } else if (out.group = kube::label_of(pod, kCoschedulingLabel); !out.group.empty()) {
    out.naming = GroupNaming::kCoscheduling;
  }
  out.queue = kube::label_of(pod, kT9kQueueLabel);
  if (out.queue.empty()) out.queue = kube::annotation_of(pod, kVolcanoQueue);
  // The role as the group's own words say it, else as job controllers label their pods.
  for (std::string_view key :
       {kVolcanoTask, kT9kRoleLabel, std::string_view("training.kubeflow.org/replica-type")}) {
    if (out.role.empty()) out.role = kube::annotation_of(pod, key);
    if (out.role.empty()) out.role = kube::label_of(pod, key);
  }
}

void read_status(const json::object& pod, PodSeen& out) {
  std::string_view phase = text_at(pod, {"status", "phase"});
  out.succeeded = phase == "Succeeded";
  out.ended = out.succeeded || phase == "Failed";
  out.running = phase == "Running";
  out.unknown = phase == "Unknown";
  out.leaving = kube::is_deleting(pod);
  out.started_at = parse_rfc3339(text_at(pod, {"status", "startTime"}));
  for (const kube::Condition& condition : kube::decode_conditions(pod)) {
    bool ours = condition.type == "DisruptionTarget" && condition.is_true() &&
                condition.reason == "PreemptionByScheduler";
    out.evicted = out.evicted || (ours && out.leaving);
  }
}

}  // namespace

PodSeen see_pod(const json::object& pod, Shapes& shapes) {
  PodSeen out;
  out.uid = kube::uid_of(pod);
  out.ns = kube::namespace_of(pod);
  out.name = kube::name_of(pod);
  out.node = text_at(pod, {"spec", "nodeName"});
  out.scheduler = text_at(pod, {"spec", "schedulerName"});
  out.shape = shapes.number(pod);
  out.labels = shapes.labels().number(pod);
  const json::array* gates = kube::array_at(pod, {"spec", "schedulingGates"});
  out.gated = gates != nullptr && !gates->empty();
  read_status(pod, out);
  read_group(pod, out);
  out.family = family_of(out.ns, out.naming == GroupNaming::kNone ? out.name : out.group);
  out.priority = kube::int_at(pod, {"spec", "priority"}).value_or(0);
  out.priority_class = text_at(pod, {"spec", "priorityClassName"});
  out.never_preempts = text_at(pod, {"spec", "preemptionPolicy"}) == "Never";
  std::string_view preemptable = kube::annotation_of(pod, kVolcanoPreemptable);
  if (preemptable.empty()) preemptable = kube::label_of(pod, kVolcanoPreemptable);
  if (!preemptable.empty()) out.preemptable = preemptable != "false";
  out.created_at = kube::creation_time_of(pod);
  if (std::optional<int64_t> deadline = kube::int_at(pod, {"spec", "activeDeadlineSeconds"})) {
    out.deadline = seconds(*deadline);
  }
  return out;
}

}  // namespace trainyard::sched
