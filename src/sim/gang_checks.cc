#include "sim/gang_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"
#include "kube/meta.h"
#include "sim/facts.h"

namespace trainyard::sim {
namespace {

// Longer than the scheduler, the operator, their watches and retries may take to mend a gang.
constexpr Duration kPatience{120'000};
// A gang that lost a member keeps its place for so long: others wait though there is room.
constexpr Duration kKeepsPlace{600'000};

// Begins the name of the gang of one that a pod on its own is.
constexpr std::string_view kAlone = "pod ";

constexpr int kNoScheduler = -1;
int scheduler_of(const Author& author) {
  return author.hand == Hand::kScheduler ? author.process_id : kNoScheduler;
}

int64_t whole_cpus(std::string_view text) { return text.empty() ? 0 : std::stoll(std::string(text)); }

int64_t cpu_of(const json::object& pod) {
  const json::array* containers = kube::array_at(pod, {"spec", "containers"});
  if (containers == nullptr || containers->empty()) return 0;
  return whole_cpus(kube::text_at(containers->at(0).as_object(), {"resources", "requests", "cpu"}));
}

int64_t wanted_port(const json::object& pod) {
  const json::array* containers = kube::array_at(pod, {"spec", "containers"});
  if (containers == nullptr || containers->empty()) return 0;
  const json::array* ports = kube::array_at(containers->at(0).as_object(), {"ports"});
  if (ports == nullptr) return 0;
  for (const json::value& port : *ports) {
    if (const auto number = kube::int_at(port.as_object(), {"hostPort"})) return *number;
  }
  return 0;
}

}  // namespace

// ---- what there is -----------------------------------------------------------------

void GangChecks::on_change(const Change& change) {
  const json::object& object = change.after ? *change.after : *change.before;
  if (change.resource == &kube::kLeases) {
    lease_holder_ = kube::text_at(object, {"spec", "holderIdentity"});
    return;
  }
  const std::string name(kube::name_of(object));
  const bool is_group =
      change.resource == &kube::kVolcanoPodGroups || change.resource == &kube::kT9kPodGroups;
  const bool matters = is_group || change.resource == &kube::kPods || change.resource == &kube::kNodes ||
                       change.resource == &kube::kVolcanoQueues;
  if (!matters) return;
  changed_by_[scheduler_of(change.author)] = change.revision;
  if (change.resource == &kube::kPods) return pod_changed(change);
  if (is_group) return group_changed(change);
  if (change.resource == &kube::kNodes) {
    nodes_[name] = {
        whole_cpus(kube::text_at(object, {"status", "allocatable", "cpu"})),
        change.after != nullptr && !kube::bool_at(object, {"spec", "unschedulable"}).value_or(false)};
    return;
  }
  queues_[name] = {kube::int_at(object, {"spec", "priority"}).value_or(0),
                   kube::text_at(object, {"status", "state"}) == "Closed"};
  const std::string_view limit = kube::text_at(object, {"spec", "capability", "cpu"});
  if (!limit.empty()) queues_[name].cpu = whole_cpus(limit);
}

void GangChecks::pod_changed(const Change& change) {
  if (!change.after) {
    auto gone = pods_.find(std::string(kube::uid_of(*change.before)));
    if (gone == pods_.end()) return;
    const std::string gang = gone->second.gang;
    pods_.erase(gone);
    return note_whole(gang);
  }
  const PodFacts facts = read_pod(*change.after);
  Pod& pod = pods_[facts.uid];
  const Pod before = pod;
  pod.gang = facts.gang.empty() ? std::string(kAlone) + facts.uid : facts.gang;
  pod.node = kube::text_at(*change.after, {"spec", "nodeName"});
  pod.cpu = cpu_of(*change.after);
  if (!change.before) pod.host_port = wanted_port(*change.after);
  pod.ended = facts.ended();
  pod.succeeded = facts.phase == PodPhase::kSucceeded;
  pod.leaving = facts.deleting;
  if (pod.leaving && !before.leaving) pod.evicted = change.author.hand == Hand::kScheduler;
  if (!before.node.empty() && before.node != pod.node) {
    report_(7, "bind-once", fmt::format("{} moved from {} to {}", facts.name, before.node, pod.node));
  }
  const int scheduler = scheduler_of(change.author);
  if (before.node.empty() && !pod.node.empty() && scheduler != kNoScheduler) bound(pod, scheduler);
  note_whole(pod.gang);
}

void GangChecks::note_whole(const std::string& gang) {
  const Tally tally = tally_of(gang);
  if (tally.placed >= group_of(gang).min_member) whole_once_.insert(gang);
  if (tally.staying == 0) whole_once_.erase(gang);
  if (tally.staying == 0 && tally.leaving == 0) evicting_.erase(gang);
}

// How many the gang was to have, as it was known at that revision.
int64_t GangChecks::wanted_at(const std::string& gang, int64_t revision) const {
  const Group group = group_of(gang);
  auto later = group.min_since.upper_bound(revision);
  return later == group.min_since.begin() ? group.min_member : std::prev(later)->second;
}

bool GangChecks::saw_everything(int scheduler) const {
  auto turn = turns_.find(scheduler);
  return std::all_of(changed_by_.begin(), changed_by_.end(), [&](const auto& changed) {
    return changed.first == scheduler || (turn != turns_.end() && changed.second <= turn->second.seen);
  });
}

bool GangChecks::holds_lease(int scheduler) const {
  return lease_holder_ == fmt::format("scheduler-{}", scheduler);
}

void GangChecks::bound(Pod& pod, int scheduler) {
  Turn& turn = turns_[scheduler];
  turn.bound.insert(pod.gang);
  pod.late = !lease_holder_.empty() && !holds_lease(scheduler);
  const Node& node = nodes_[pod.node];
  const bool saw_all = saw_everything(scheduler);
  if (!node.usable && saw_all) {
    report_(7, "node-is-there",
            fmt::format("a pod of {} is bound to {}, which takes none", pod.gang, pod.node));
  }
  if (node.usable && !pod.late) check_room(pod, node, scheduler);
  if (node.usable && !pod.late && pod.host_port > 0) check_port(pod, scheduler);
  const std::string queue = group_of(pod.gang).queue;
  if (saw_all && queues_[queue].closed && !turn.begun_before.contains(pod.gang)) {
    report_(7, "closed-queue", fmt::format("{} starts though {} is closed", pod.gang, queue));
  }
  if (saw_all) check_queue_holds(queue);
  // One that is asked for more pods while its scheduler lets it start was whole when it began.
  if (tally_of(pod.gang).placed >= wanted_at(pod.gang, turn.seen)) whole_once_.insert(pod.gang);
}

void GangChecks::check_room(const Pod& pod, const Node& node, int scheduler) const {
  const bool saw_all = saw_everything(scheduler);
  int64_t held = 0;
  for (const auto& [uid, other] : pods_) {
    const bool counts = other.holds() && other.node == pod.node && (saw_all || !other.late);
    held += counts ? other.cpu : 0;
  }
  if (held <= node.cpu) return;
  report_(7, "room", fmt::format("{} holds {} cpus and has {}", pod.node, held, node.cpu));
}

void GangChecks::check_port(const Pod& pod, int scheduler) const {
  const bool saw_all = saw_everything(scheduler);
  const auto taken = std::count_if(pods_.begin(), pods_.end(), [&](const auto& entry) {
    const Pod& other = entry.second;
    return other.holds() && other.node == pod.node && other.host_port == pod.host_port &&
           (saw_all || !other.late);
  });
  if (taken <= 1) return;
  report_(10, "host-ports", fmt::format("{} pods have port {} of {}", taken, pod.host_port, pod.node));
}

// What hangs on nodes that are gone or cordoned is left out: it may be forgotten.
void GangChecks::check_queue_holds(const std::string& queue) const {
  const std::optional<int64_t> most = queues_.at(queue).cpu;
  if (!most) return;
  int64_t held = 0;
  for (const auto& [uid, pod] : pods_) {
    auto node = nodes_.find(pod.node);
    const bool counts = pod.holds() && node != nodes_.end() && node->second.usable;
    if (counts && group_of(pod.gang).queue == queue) held += pod.cpu;
  }
  if (held <= *most) return;
  report_(7, "queue-capacity", fmt::format("{} holds {} cpus and may hold {}", queue, held, *most));
}

void GangChecks::group_changed(const Change& change) {
  const json::object& object = change.after ? *change.after : *change.before;
  const std::string name(kube::name_of(object));
  if (!change.after) {
    groups_.erase(name);
    return;
  }
  Group& group = groups_[name];
  const std::string before = group.phase;
  group.there = true;
  group.min_member = kube::int_at(object, {"spec", "minMember"}).value_or(1);
  group.min_since[change.revision] = group.min_member;
  group.queue = kube::text_at(object, {"spec", "queue"});
  group.priority_class = kube::text_at(object, {"spec", "priorityClassName"});
  group.phase = kube::text_at(object, {"status", "phase"});
  const bool let_in = (before.empty() || before == "Pending") && group.phase == "Inqueue";
  // One that lost its pods may have new ones before it waits to be let in anew: those are there already.
  const bool has_pods = let_in && tally_of(name).waiting > 0;
  const int scheduler = scheduler_of(change.author);
  if (let_in && !has_pods && saw_everything(scheduler) && queues_[group.queue].closed &&
      !turns_[scheduler].begun_before.contains(name)) {
    report_(7, "closed-queue", fmt::format("{} is let in though {} is closed", name, group.queue));
  }
}

void GangChecks::Tally::add(const Pod& pod) {
  staying += pod.stays();
  placed += pod.stays() || pod.succeeded;
  leaving += pod.holds() && pod.leaving;
  waiting += pod.waits();
  if (pod.waits()) cpu = std::max(cpu, pod.cpu);
  ports = ports || (pod.waits() && pod.host_port > 0);
}

GangChecks::Tally GangChecks::tally_of(const std::string& gang) const {
  Tally out;
  for (const auto& [uid, pod] : pods_) {
    if (pod.gang == gang) out.add(pod);
  }
  return out;
}

GangChecks::Tallies GangChecks::tallies() const {
  Tallies out;
  for (const auto& [uid, pod] : pods_) out[pod.gang].add(pod);
  return out;
}

GangChecks::Group GangChecks::group_of(const std::string& gang) const {
  auto found = groups_.find(gang);
  return found == groups_.end() ? Group{} : found->second;
}

bool GangChecks::comes_before(const Group& one, const Group& other) const {
  auto priority = [this](const Group& group) {
    auto queue = queues_.find(group.queue);
    return queue == queues_.end() ? 0 : queue->second.priority;
  };
  auto queue = [](const Group& group) { return group.queue.empty() ? "default" : group.queue; };
  if (queue(one) != queue(other)) return priority(one) > priority(other);
  return one.priority_class == "high" && other.priority_class != "high";
}

int64_t GangChecks::places(int64_t cpu, const std::function<bool(const Pod&)>& gone) const {
  std::map<std::string, int64_t> free;
  for (const auto& [name, node] : nodes_) {
    if (node.usable) free[name] = node.cpu;
  }
  for (const auto& [uid, pod] : pods_) {
    auto node = free.find(pod.node);
    if (node != free.end() && pod.holds() && !gone(pod)) node->second -= pod.cpu;
  }
  int64_t out = 0;
  for (const auto& [name, left] : free) out += std::max<int64_t>(0, left) / std::max<int64_t>(1, cpu);
  return out;
}

// ---- what the scheduler decides ----------------------------------------------------------

void GangChecks::pass_begins(int scheduler, int64_t seen) {
  Turn& turn = turns_[scheduler];
  turn = Turn{seen};
  for (const auto& [uid, pod] : pods_) {
    if (pod.holds() || pod.succeeded) turn.begun_before.insert(pod.gang);
  }
}

void GangChecks::asks(int scheduler, const kube::Request& request) const {
  if (holds_lease(scheduler)) return;
  report_(12, "fence",
          fmt::format("scheduler-{} asks to {} while {} leads", scheduler, to_string(request),
                      lease_holder_.empty() ? "nobody" : lease_holder_));
}

void GangChecks::evicts(int scheduler, const std::string& uid) {
  auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  const std::string& gang = pod->second.gang;
  Tallies now = tallies();
  evicting_.insert(gang);
  const bool goes_already = std::any_of(pods_.begin(), pods_.end(), [&](const auto& other) {
    return other.second.gang == gang && other.second.evicted;
  });
  // A gang in part gives back what it holds.
  if (goes_already || now[gang].placed < group_of(gang).min_member) return;
  turns_[scheduler].victims.insert(gang);
  const bool for_somebody = std::any_of(now.begin(), now.end(), [&](const auto& other) {
    const Group group = group_of(other.first);
    return other.second.waiting > 0 && other.second.placed < group.min_member &&
           comes_before(group, group_of(gang));
  });
  if (!for_somebody && saw_everything(scheduler)) {
    report_(9, "right-to-evict", fmt::format("{} is made to leave and nobody comes before it", gang));
  }
}

void GangChecks::pass_ends(int scheduler, bool clean, bool decided) {
  if (!clean || !saw_everything(scheduler)) return;
  const Turn& turn = turns_[scheduler];
  const bool torn = decided && !evicting_.empty();
  if (turn.bound.empty() && turn.victims.empty() && !torn) return;
  const Tallies now = tallies();
  check_bound_whole(turn, now);
  check_evicted(turn, now);
  if (torn) check_torn(now);
}

void GangChecks::check_bound_whole(const Turn& turn, const Tallies& now) {
  for (const std::string& gang : turn.bound) {
    const int64_t wanted = group_of(gang).min_member;
    auto tally = now.find(gang);
    if (tally == now.end() || tally->second.placed >= wanted) continue;
    report_(7, "whole-or-none",
            fmt::format("{} was given nodes for {} of {} pods", gang, tally->second.placed, wanted));
  }
}

bool GangChecks::somebody_fits(const Group& victim, const Tallies& now) const {
  auto gone = [](const Pod& pod) { return pod.leaving; };
  return std::any_of(now.begin(), now.end(), [&](const auto& other) {
    const Group group = group_of(other.first);
    const int64_t lacks = group.min_member - other.second.placed;
    return other.second.waiting > 0 && lacks > 0 && comes_before(group, victim) &&
           places(other.second.cpu, gone) >= lacks;
  });
}

void GangChecks::check_evicted(const Turn& turn, const Tallies& now) {
  for (const std::string& gang : turn.victims) {
    auto tally = now.find(gang);
    if (tally == now.end()) continue;
    if (tally->second.staying > 0) {
      report_(9, "evicted-whole", fmt::format("{} pods of {} may stay", tally->second.staying, gang));
    }
    if (!somebody_fits(group_of(gang), now)) {
      report_(9, "evicted-for-use",
              fmt::format("{} was made to leave and whom it was for does not fit", gang));
    }
  }
}

// The one that made some of them go may have died, and whom they made room for may be gone.
void GangChecks::check_torn(const Tallies& now) {
  std::set<std::string> torn;
  for (const auto& [uid, pod] : pods_) {
    if (pod.evicted && pod.leaving && pod.holds()) torn.insert(pod.gang);
  }
  for (const std::string& gang : torn) {
    const Tally& tally = now.at(gang);
    if (tally.staying == 0 || tally.placed >= group_of(gang).min_member) continue;
    report_(9, "evicted-whole",
            fmt::format("{} pods of {}, which was made to leave, may stay", tally.staying, gang));
  }
}

// ---- what may not last --------------------------------------------------------------------

void GangChecks::lasts(std::map<std::string, Time>& since, const std::string& gang, bool does, Time now,
                       int invariant, std::string_view checker, std::string_view what) {
  if (!does) {
    since.erase(gang);
    return;
  }
  const Time from = std::max(since.try_emplace(gang, now).first->second, away_until_);
  if (now - std::max(from, *healthy_since_) <= kPatience) return;
  report_(invariant, checker, fmt::format("{} {}", gang, what));
  since.erase(gang);
}

void GangChecks::look_at_parts(const Tallies& all, Time now) {
  for (const auto& [gang, tally] : all) {
    const int64_t wanted = group_of(gang).min_member;
    const bool part = tally.staying > 0 && tally.placed < wanted && !whole_once_.contains(gang);
    lasts(partial_since_, gang, part, now, 8, "hold-and-wait",
          "holds part of what it needs and neither gets the rest nor gives it back");
    const bool torn = evicting_.contains(gang) && tally.staying > 0 && tally.placed < wanted;
    if (!torn && tally.leaving == 0) evicting_.erase(gang);
    lasts(torn_since_, gang, torn, now, 9, "evicted-whole", "was made to leave in part");
  }
}

// Whether room may be kept for a gang that has lost a member.
bool GangChecks::places_are_kept(const Tallies& all, Time now) {
  bool kept = false;
  for (const auto& [gang, tally] : all) {
    if (tally.staying == 0 || tally.placed >= group_of(gang).min_member) {
      broken_since_.erase(gang);
      continue;
    }
    kept = kept || now - broken_since_.try_emplace(gang, now).first->second <= kKeepsPlace;
  }
  return kept;
}

// A gang that has all its pods, and room for them: free, or held by those it comes before.
void GangChecks::look_at_waiting(const Tallies& all, Time now) {
  const bool kept = reserves_ || places_are_kept(all, now);
  for (const auto& [gang, tally] : all) {
    const Group group = group_of(gang);
    // Pods whose PodGroup has gone with the end of its job are kept, and never start.
    const bool orphaned = !group.there && !gang.starts_with(kAlone);
    const bool waits = !orphaned && !tally.ports && tally.waiting > 0 && tally.placed < group.min_member &&
                       tally.leaving == 0 && tally.waiting + tally.placed >= group.min_member;
    const bool fits = waits && places(tally.cpu, [&](const Pod& pod) {
                                 return comes_before(group, group_of(pod.gang));
                               }) >= tally.waiting;
    lasts(fits_since_, gang, fits && !kept, now, 16, "could-start", "waits though there is room for it");
  }
}

void GangChecks::look(Time now) {
  if (!healthy_since_) return;
  const Tallies all = tallies();
  look_at_parts(all, now);
  look_at_waiting(all, now);
  std::erase_if(broken_since_, [&](const auto& entry) { return !all.contains(entry.first); });
  std::erase_if(fits_since_, [&](const auto& entry) { return !all.contains(entry.first); });
  std::erase_if(partial_since_, [&](const auto& entry) { return !all.contains(entry.first); });
  std::erase_if(torn_since_, [&](const auto& entry) { return !all.contains(entry.first); });
}

}  // namespace trainyard::sim
