#include "sim/scheduler.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"
#include "sim/facts.h"

namespace trainyard::sim {

namespace {
constexpr Author kSchedulerHand{Hand::kScheduler, -1};

bool is_pod_group(const kube::Resource* resource) {
  return resource == &kube::kVolcanoPodGroups || resource == &kube::kT9kPodGroups;
}
}  // namespace

Scheduler::Scheduler(Cluster& cluster, const Options& options, bool scripted)
    : cluster_(cluster),
      options_(options),
      scripted_(scripted),
      rng_(stream(options.seed, Stream::kSettle)) {}

Duration Scheduler::some(int64_t low_ms, int64_t high_ms) {
  return Duration{scripted_ ? low_ms : rng_.between(low_ms, high_ms)};
}

void Scheduler::on_change(const Change& change) {
  // A pod that is given its labels back joins its group as a new one does.
  const bool joins = change.resource == &kube::kPods && change.after &&
                     (!change.before || gang_of(*change.before) != gang_of(*change.after));
  if (joins || (is_pod_group(change.resource) && change.after)) plan_turn(some(100, 1'500));
}

void Scheduler::plan_turn(Duration after) {
  if (turn_planned_) return;
  turn_planned_ = true;
  cluster_.agenda().in(after, [this] { turn(); });
}

// Nobody else writes to pods during a turn.
std::vector<Scheduler::Found> Scheduler::find_pods() const {
  std::vector<Found> found;
  auto pods = cluster_.store().list(kube::kPods, "");
  if (!pods.ok()) return found;
  for (const store::Object& pod : pods.value().items) {
    const bool bound = !kube::text_at(*pod, {"spec", "nodeName"}).empty();
    found.push_back({pod, gang_of(*pod), bound, kube::is_deleting(*pod)});
  }
  return found;
}

void Scheduler::turn() {
  turn_planned_ = false;
  std::vector<Found> pods = find_pods();
  admit_groups(kube::kVolcanoPodGroups, pods);
  admit_groups(kube::kT9kPodGroups, pods);
  for (Found& pod : pods) {
    if (pod.gang.empty() && !pod.bound && !pod.deleting) bind(pod);
  }
}

void Scheduler::admit_groups(const kube::Resource& resource, std::vector<Found>& pods) {
  auto groups = cluster_.store().list(resource, "");
  if (!groups.ok()) return;
  for (const store::Object& group : groups.value().items) {
    if (kube::is_deleting(*group)) continue;
    if (&resource == &kube::kT9kPodGroups) {
      bind_members(*group, pods);
      continue;
    }
    const std::string_view phase = kube::text_at(*group, {"status", "phase"});
    if (phase.empty() || phase == "Pending") {
      json::object changed = *group;
      changed["status"] = json::object{{"phase", phase.empty() ? "Pending" : "Inqueue"}};
      cluster_.update(kSchedulerHand, resource, std::move(changed));
      plan_turn(some(100, 3'000));
    } else {
      bind_members(*group, pods);
    }
  }
}

void Scheduler::bind_members(const json::object& group, std::vector<Found>& pods) {
  const std::string_view gang = kube::name_of(group);
  const std::string uid(kube::uid_of(group));
  const int64_t min_member = kube::int_at(group, {"spec", "minMember"}).value_or(0);
  const int64_t members = std::count_if(pods.begin(), pods.end(),
                                        [&](const Found& pod) { return pod.gang == gang && !pod.deleting; });
  if (members < min_member && !started_.contains(uid)) return;
  started_.insert(uid);
  for (Found& pod : pods) {
    if (pod.gang == gang && !pod.bound && !pod.deleting) bind(pod);
  }
}

void Scheduler::bind(Found& found) {
  json::object bound = *found.pod;
  const auto node = scripted_ ? 0 : rng_.below(static_cast<uint64_t>(options_.nodes));
  kube::ensure_object(bound, {"spec"})["nodeName"] = fmt::format("node-{}", node);
  found.bound = cluster_.update(kSchedulerHand, kube::kPods, std::move(bound)) != nullptr;
}

}  // namespace trainyard::sim
