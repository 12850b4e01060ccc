#include "sim/scheduler.h"

#include <fmt/format.h>

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
                     (!change.before || read_pod(*change.before).gang != read_pod(*change.after).gang);
  if (joins || (is_pod_group(change.resource) && change.after)) plan_turn(some(100, 1'500));
}

void Scheduler::plan_turn(Duration after) {
  if (turn_planned_) return;
  turn_planned_ = true;
  cluster_.agenda().in(after, [this] { turn(); });
}

void Scheduler::turn() {
  turn_planned_ = false;
  admit_groups(kube::kVolcanoPodGroups);
  admit_groups(kube::kT9kPodGroups);
  auto pods = cluster_.store().list(kube::kPods, "");
  if (!pods.ok()) return;
  for (const store::Object& pod : pods.value().items) {
    const PodFacts facts = read_pod(*pod);
    if (facts.gang.empty() && !facts.bound && !facts.deleting) bind(*pod);
  }
}

void Scheduler::admit_groups(const kube::Resource& resource) {
  auto groups = cluster_.store().list(resource, "");
  if (!groups.ok()) return;
  for (const store::Object& group : groups.value().items) {
    if (kube::is_deleting(*group)) continue;
    if (&resource == &kube::kT9kPodGroups) {
      bind_members(*group);
      continue;
    }
    const std::string_view phase = kube::text_at(*group, {"status", "phase"});
    if (phase.empty() || phase == "Pending") {
      json::object changed = *group;
      changed["status"] = json::object{{"phase", phase.empty() ? "Pending" : "Inqueue"}};
      cluster_.update(kSchedulerHand, resource, std::move(changed));
      plan_turn(some(100, 3'000));
    } else {
      bind_members(*group);
    }
  }
}

void Scheduler::bind_members(const json::object& group) {
  const std::string_view gang = kube::name_of(group);
  const std::string uid(kube::uid_of(group));
  const int64_t min_member = kube::int_at(group, {"spec", "minMember"}).value_or(0);
  auto pods = cluster_.store().list(kube::kPods, "");
  if (!pods.ok()) return;
  int64_t members = 0;
  for (const store::Object& pod : pods.value().items) {
    const PodFacts facts = read_pod(*pod);
    if (facts.gang != gang || facts.deleting) continue;
    ++members;
  }
  if (members < min_member && !started_.contains(uid)) return;
  started_.insert(uid);
  for (const store::Object& pod : pods.value().items) {
    const PodFacts facts = read_pod(*pod);
    if (facts.gang == gang && !facts.bound && !facts.deleting) bind(*pod);
  }
}

void Scheduler::bind(const json::object& pod) {
  json::object bound = pod;
  const auto node = scripted_ ? 0 : rng_.below(static_cast<uint64_t>(options_.nodes));
  kube::ensure_object(bound, {"spec"})["nodeName"] = fmt::format("node-{}", node);
  cluster_.update(kSchedulerHand, kube::kPods, std::move(bound));
}

}  // namespace trainyard::sim
