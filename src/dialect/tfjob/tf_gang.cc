#include "dialect/tfjob/tf_gang.h"

#include "base/ascii.h"
#include "dialect/shared/gang.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::dialect::tf {
namespace {

// Ours reads the groups of all; Volcano's say most: a queue, a class, and that it is let in.
constexpr std::string_view kOurs = "trainyard";

model::GangScheduler kind_of(std::string_view scheduler) {
  if (same_but_for_case(scheduler, "volcano") || same_but_for_case(scheduler, kOurs)) {
    return model::GangScheduler::kVolcano;
  }
  if (same_but_for_case(scheduler, "kube-batch")) return model::GangScheduler::kKubeBatch;
  if (same_but_for_case(scheduler, "t9k-scheduler")) return model::GangScheduler::kT9k;
  return model::GangScheduler::kCoscheduling;
}

constexpr std::string_view kWhenAsked = "asked";

// By a policy for its gang, or by saying where the gang goes.
bool asks_for_gang(const json::object& job) {
  if (const json::object* given = kube::object_at(job, {"metadata", "annotations"})) {
    for (const auto& member : *given) {
      if (places_gang(kube::view(member.key()))) return true;
    }
  }
  return kube::object_at(job, {"spec", "runPolicy", "schedulingPolicy"}) != nullptr ||
         kube::object_at(job, {"spec", "schedulingPolicy"}) != nullptr;
}

std::string_view group_of_user(const TfJob& job) {
  for (const TfReplicas& one : job.replicas) {
    std::string_view name = kube::annotation_of(one.pod_template, kGroupNameAnnotation);
    if (!name.empty()) return name;
  }
  return "";
}

}  // namespace

std::string gang_scheduler_of(const json::object& job, const Settings& settings) {
  std::string_view wanted = kube::annotation_of(job, kGangSchedulerAnnotation);
  std::string scheduler = wanted.empty() ? settings.gang_scheduler : std::string(wanted);
  if (same_but_for_case(scheduler, "none")) return "";
  // Where gangs are always at hand, those that ask for one get it: the others start as room appears.
  if (same_but_for_case(scheduler, kWhenAsked)) return asks_for_gang(job) ? "volcano" : "";
  if (same_but_for_case(scheduler, kOurs)) return std::string(kOurs);
  switch (kind_of(scheduler)) {
    case model::GangScheduler::kVolcano:
      return "volcano";
    case model::GangScheduler::kKubeBatch:
      return "kube-batch";
    case model::GangScheduler::kT9k:
      return "t9k-scheduler";
    case model::GangScheduler::kCoscheduling:
      break;
  }
  return scheduler;
}

std::optional<model::Gang> gang_of(const TfJob& job, const std::string& scheduler) {
  if (scheduler.empty()) return std::nullopt;
  model::Gang gang;
  gang.scheduler = kind_of(scheduler);
  std::string_view given = group_of_user(job);
  gang.owned = given.empty();
  gang.name = gang.owned ? job.name : std::string(given);
  // Only Volcano tells beforehand that there is room, and a group of the user's may come later.
  gang.gates_pods = gang.owned && gang.scheduler == model::GangScheduler::kVolcano;
  if (scheduler == kOurs) gang.placed_by = kOurs;
  gang.min_member = job.scheduling.min_available.value_or(job.total_replicas());
  gang.min_resources = job.scheduling.min_resources;
  if (gang.min_resources.empty()) {
    std::vector<GangPart> parts;
    for (const TfReplicas& one : job.replicas) parts.push_back({&one.pod_template, one.replicas});
    gang.min_resources = gang_requests(parts, gang.min_member);
  }
  gang.queue = job.scheduling.queue;
  bool has_queues =
      gang.scheduler == model::GangScheduler::kVolcano || gang.scheduler == model::GangScheduler::kT9k;
  if (gang.queue.empty() && has_queues) gang.queue = "default";
  gang.priority_class = job.scheduling.priority_class;
  gang.timeout_seconds = job.scheduling.timeout_seconds;
  return storable(gang);
}

}  // namespace trainyard::dialect::tf
