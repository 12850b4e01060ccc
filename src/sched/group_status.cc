#include "sched/group_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/hash.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/same.h"
#include "sched/needs.h"

namespace trainyard::sched {
namespace {

constexpr Duration kRewordAfter = std::chrono::minutes(1);

struct Told {
  std::string_view type;
  bool holds = false;
  std::string_view reason;
  std::string message;
  uint64_t kind = 0;  // of wait, which the reason does not tell
};

json::object* find_condition(json::array& conditions, std::string_view type) {
  for (json::value& entry : conditions) {
    json::object* object = entry.if_object();
    if (object != nullptr && kube::text_at(*object, {"type"}) == type) return object;
  }
  return nullptr;
}

void forget(json::array& conditions, std::string_view type) {
  for (auto at = conditions.begin(); at != conditions.end();) {
    const json::object* object = at->if_object();
    bool gone = object != nullptr && kube::text_at(*object, {"type"}) == type;
    at = gone ? conditions.erase(at) : at + 1;
  }
}

// In the form of a uuid: what it is about, the kind of wait included, and when it was said. Equal input,
// equal output; and who reads it later knows both.
std::string transition_id(std::string_view uid, const Told& told, Time now) {
  uint64_t about = fnv1a(std::to_string(told.kind), fnv1a(told.reason, fnv1a(told.type, fnv1a(uid))));
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", about >> 32, (about >> 16) & 0xffff,
                     about & 0xffff, 0x8000, static_cast<uint64_t>(now.ms) & 0xffffffffffff);
}

constexpr size_t kAboutLength = 18;  // of what it is about, in a transition_id
constexpr size_t kTimeLength = 12;

// When the condition got its words; by its transition when it was not us who said it.
std::optional<Time> said_at(const json::object& condition) {
  std::string_view id = kube::text_at(condition, {"transitionID"});
  int64_t ms = 0;
  if (id.size() > kTimeLength) {
    std::string_view digits = id.substr(id.size() - kTimeLength);
    std::from_chars(digits.data(), digits.data() + digits.size(), ms, 16);
  }
  std::optional<Time> changed = parse_rfc3339(kube::text_at(condition, {"lastTransitionTime"}));
  // The transition is written in whole seconds.
  bool ours = changed && ms >= changed->ms;
  return ours ? std::optional(Time{ms}) : changed;
}

void tell(json::object& status, std::string_view uid, const Told& told, Time now) {
  json::array& conditions = kube::ensure_array(status, {"conditions"});
  std::string_view word = told.holds ? "True" : "False";
  json::object* there = find_condition(conditions, told.type);
  bool same = false;
  bool same_words = false;
  if (there != nullptr) {
    same = kube::text_at(*there, {"status"}) == word && kube::text_at(*there, {"reason"}) == told.reason;
    same_words = kube::text_at(*there, {"message"}) == told.message;
  }
  if (same && same_words) return;
  std::string id = transition_id(uid, told, now);
  std::string before;
  if (there != nullptr) {
    before = kube::text_at(*there, {"transitionID"});
    bool same_kind = before.empty() || before.starts_with(std::string_view(id).substr(0, kAboutLength));
    std::optional<Time> since = said_at(*there);
    bool fresh = since && now - *since < kRewordAfter;
    if (same && same_kind && fresh) return;
  } else {
    there = &conditions.emplace_back(json::object()).get_object();
  }
  (*there)["type"] = kube::jview(told.type);
  (*there)["status"] = kube::jview(word);
  (*there)["transitionID"] = id;
  // Other words for the same are no transition: how long it has been so decides who keeps its place. A
  // server that does not keep the id leaves no other way to tell when they were said.
  if (!same || before.empty()) (*there)["lastTransitionTime"] = format_rfc3339(now);
  (*there)["reason"] = kube::jview(told.reason);
  (*there)["message"] = told.message;
}

void put_count(json::object& status, std::string_view key, int count) {
  if (count == 0) {
    status.erase(kube::jview(key));
  } else {
    status[kube::jview(key)] = count;
  }
}

json::object resource_list(const Cluster& cluster, const Amounts& amounts) {
  json::object out;
  for (size_t r = 0; r < amounts.size(); ++r) {
    if (amounts[r] > 0) out[cluster.resources[r]] = amount_text(cluster.resources[r], amounts[r]);
  }
  return out;
}

Amounts held_by(const Cluster& cluster, const Gang& gang) {
  Amounts sum;
  for (const Member& member : gang.members) {
    bool holds =
        (member.state == MemberState::kPlaced || member.state == MemberState::kLeaving) && member.node >= 0;
    if (holds) add(sum, cluster.classes[static_cast<size_t>(member.pod_class)].requests);
  }
  return sum;
}

struct Subject {
  const Gang& gang;
  const Tally& tally;
  const Verdict& verdict;
  Needs needs;
  std::string_view uid;
  Time now;

  bool ready() const { return needs.whole() || verdict.bound; }
  bool waits() const { return !ready() && verdict.waiting != nullptr; }
};

std::string unschedulable_message(const Subject& of) {
  return fmt::format("{}/{} tasks in gang unschedulable: {}", of.needs.total,
                     std::max<size_t>(of.gang.members.size(), static_cast<size_t>(of.gang.min_member)),
                     of.verdict.waiting->text);
}

// Volcano's and kube-batch's words for it.
Told unschedulable(const Subject& of) {
  WaitCode code = of.verdict.waiting->code;
  std::string_view reason = code == WaitCode::kMembersMissing ? "NotEnoughTasks" : "NotEnoughResources";
  return {"Unschedulable", true, reason, unschedulable_message(of), kind_of(*of.verdict.waiting)};
}

void put_counts(json::object& status, const Tally& tally) {
  put_count(status, "running", tally.running);
  put_count(status, "succeeded", tally.succeeded);
  put_count(status, "failed", tally.failed);
}

// Running or Completed; "" of a gang that is not whole.
std::string_view phase_when_whole(const Tally& tally, int least) {
  int ended = tally.succeeded + tally.failed;
  int scheduled = tally.on_nodes + ended;
  if (scheduled == 0 || scheduled < least) return "";
  return scheduled == ended && tally.pending == 0 ? "Completed" : "Running";
}

std::string_view volcano_phase(const Subject& of, std::string_view before) {
  if (of.tally.running > 0 && of.waits()) return "Unknown";
  std::string_view whole = phase_when_whole(of.tally, of.gang.min_member);
  if (!whole.empty()) return whole;
  bool let_in = before == "Inqueue" || of.verdict.admitted || of.tally.pods > 0;
  return let_in ? "Inqueue" : "Pending";
}

void volcano_status(json::object& status, const Subject& of) {
  status["phase"] = kube::jview(volcano_phase(of, kube::text_at(status, {"phase"})));
  put_counts(status, of.tally);
  // Pods that are about to be made are no news.
  bool forming = of.tally.pods == 0 && (of.verdict.admitted || !of.waits() ||
                                        of.verdict.waiting->code == WaitCode::kMembersMissing);
  if (of.waits() && !forming) {
    tell(status, of.uid, unschedulable(of), of.now);
  } else if (of.ready() && of.tally.pods > 0) {
    json::array& conditions = kube::ensure_array(status, {"conditions"});
    forget(conditions, "Unschedulable");
    tell(status, of.uid, {"Scheduled", true, "tasks in gang are ready to be scheduled", ""}, of.now);
  }
}

void kube_batch_status(json::object& status, const Subject& of) {
  int there = of.tally.on_nodes + of.tally.succeeded;
  bool unknown = of.tally.running > 0 && of.waits();
  bool running = of.verdict.bound || (there > 0 && there >= of.gang.min_member);
  status["phase"] = unknown ? "Unknown" : running ? "Running" : "Pending";
  put_counts(status, of.tally);
  if (of.waits()) {
    tell(status, of.uid, unschedulable(of), of.now);
  } else if (of.ready() && status.contains("conditions")) {
    forget(kube::ensure_array(status, {"conditions"}), "Unschedulable");
  }
}

void coscheduling_status(json::object& status, const Subject& of) {
  std::string before(kube::text_at(status, {"phase"}));
  put_counts(status, of.tally);
  if (before == "Finished" || before == "Failed") return;
  int least = of.gang.min_member;
  const Tally& tally = of.tally;
  std::string_view phase = "Scheduling";
  if (tally.pods < least || tally.pods == 0) {
    phase = "Pending";
  } else if (tally.succeeded >= least) {
    phase = "Finished";
  } else if (tally.failed > 0 && tally.failed + tally.running + tally.succeeded >= least) {
    phase = "Failed";
  } else if (tally.succeeded + tally.running >= least) {
    phase = "Running";
  }
  status["phase"] = kube::jview(phase);
  if (phase == "Scheduling" && !status.contains("scheduleStartTime")) {
    status["scheduleStartTime"] = format_rfc3339(of.now);
  }
}

void t9k_status(json::object& status, const Subject& of, const Cluster& cluster) {
  put_counts(status, of.tally);
  put_count(status, "pending", of.tally.pending);
  put_count(status, "unknown", of.tally.unknown);
  json::object allocated = resource_list(cluster, held_by(cluster, of.gang));
  if (allocated.empty()) {
    status.erase("allocated");
  } else {
    status["allocated"] = std::move(allocated);
  }
  int missing = std::max(0, of.needs.absent - of.needs.held_back);
  bool enough = missing == 0;
  tell(status, of.uid,
       {"SufficientGroupMember", enough, enough ? "SufficientMemberPods" : "InsufficientMemberPods",
        enough         ? "PodGroup has sufficient member pods"
        : missing == 1 ? "1 more pod is needed"
                       : fmt::format("{} more pods are needed", missing)},
       of.now);
  bool before = of.gang.whole_once;  // "has ever been allocated"
  if (of.ready() && of.tally.pods > 0) {
    tell(status, of.uid,
         {"GroupScheduled", true, "PodGroupScheduled", "Resources have been allocated to PodGroup"}, of.now);
  } else if (!before) {
    tell(status, of.uid,
         {"GroupScheduled", false, "GroupNotScheduled", of.waits() ? of.verdict.waiting->text : "",
          of.waits() ? kind_of(*of.verdict.waiting) : 0},
         of.now);
  }
}

const Queue* find_queue(const Cluster& cluster, std::string_view api_group, std::string_view name) {
  std::string qualified(api_group);
  qualified.append("/").append(name);
  const Queue* plain = nullptr;
  for (const Queue& one : cluster.queues) {
    if (one.name == qualified) return &one;
    if (one.name == name) plain = &one;
  }
  return plain;
}

void volcano_queue_status(json::object& status, const Cluster& cluster, const QueueSum& sum) {
  using Named = std::pair<std::string_view, std::string_view>;
  for (auto [key, phase] :
       {Named{"pending", "Pending"}, Named{"inqueue", "Inqueue"}, Named{"running", "Running"},
        Named{"unknown", "Unknown"}, Named{"completed", "Completed"}}) {
    auto counted = sum.phases.find(std::string(phase));
    put_count(status, key, counted == sum.phases.end() ? 0 : counted->second);
  }
  std::string_view state = kube::text_at(status, {"state"});
  if (state.empty()) status["state"] = "Open";
  if (state == "Closing" && sum.phases.empty()) status["state"] = "Closed";
  status["allocated"] = resource_list(cluster, sum.held);
}

void t9k_queue_status(json::object& status, const Cluster& cluster, const Queue& queue, const QueueSum& sum,
                      std::string_view uid, Time now) {
  status["allocated"] = resource_list(cluster, sum.held);
  status["podGroups"] = json::object{{"total", sum.gangs}};
  status["pods"] = json::object{{"pending", sum.pods.pending},
                                {"running", sum.pods.running},
                                {"succeeded", sum.pods.succeeded},
                                {"failed", sum.pods.failed},
                                {"unknown", sum.pods.unknown}};
  tell(status, uid,
       {"QueueClosed", queue.closed, queue.closed ? "QueueClosed" : "QueueOpen",
        queue.closed ? "Queue is closed" : "Queue is open"},
       now);
  bool pressed = false;  // above nine tenths of its quota
  for (size_t r = 0; r < queue.capacity.size(); ++r) {
    __int128 tenths = static_cast<__int128>(amount_at(sum.held, static_cast<int>(r))) * 10;
    std::optional<int64_t> most = most_of(queue, static_cast<int>(r));
    pressed = pressed || (most && tenths > static_cast<__int128>(*most) * 9);
  }
  tell(status, uid,
       {"ResourcePressure", pressed, pressed ? "QueueHasResourcePressure" : "QueueHasNoResourcePressure",
        pressed ? "Queue has used more than 90% of its resource quota"
                : "Queue has sufficient resource quota"},
       now);
}

// Of the kinds that are told something here: each has one.
std::string_view api_group_of(const json::object& object) {
  std::string_view api_version = kube::text_at(object, {"apiVersion"});
  return api_version.substr(0, api_version.find('/'));
}

json::object status_of(const json::object& object) {
  const json::object* status = kube::object_at(object, {"status"});
  return status == nullptr ? json::object() : *status;
}

std::optional<json::object> if_changed(const json::object& object, json::object status) {
  const json::object* before = kube::object_at(object, {"status"});
  if (before != nullptr && kube::same(*before, status)) return std::nullopt;
  if (before == nullptr && status.empty()) return std::nullopt;
  return status;
}

}  // namespace

Verdicts verdicts_of(const Decisions& decisions) {
  Verdicts out;
  for (const std::string& id : decisions.admitted) out[id].admitted = true;
  for (const Binding& binding : decisions.bindings) out[binding.gang].bound = true;
  for (const Waiting& waiting : decisions.waiting) out[waiting.gang].waiting = &waiting;
  return out;
}

uint64_t gang_print(const Cluster& cluster, const Gang& gang, const Tally& tally) {
  uint64_t print = kFnvOffset;
  auto put = [&](int64_t value) {
    print = (print ^ static_cast<uint64_t>(value)) * 0x9E3779B97F4A7C15u;
    print ^= print >> 29;
  };
  for (int64_t value :
       {int64_t{gang.whole_once}, int64_t{gang.min_member}, int64_t{tally.pods}, int64_t{tally.pending},
        int64_t{tally.running}, int64_t{tally.succeeded}, int64_t{tally.failed}, int64_t{tally.unknown},
        int64_t{tally.on_nodes}, static_cast<int64_t>(gang.roles.size())}) {
    put(value);
  }
  for (const Role& role : gang.roles) put(role.min);
  for (const Member& member : gang.members) {
    put((int64_t{member.role} << 8) ^ static_cast<int64_t>(member.state));
    bool holds = member.node >= 0;
    put(holds);
    if (!holds) continue;
    for (int64_t amount : cluster.classes[static_cast<size_t>(member.pod_class)].requests) put(amount);
  }
  return print;
}

std::optional<uint64_t> status_print(uint64_t gang_print, const Verdict& verdict) {
  if (verdict.waiting != nullptr) return std::nullopt;  // its words may be said again after a while
  return gang_print * 4 + static_cast<uint64_t>(verdict.admitted) * 2 + static_cast<uint64_t>(verdict.bound);
}

std::optional<json::object> group_status(const json::object& group, const Snapshot& snapshot, int g,
                                         const Verdict& verdict, Time now) {
  const Gang& gang = snapshot.gangs[static_cast<size_t>(g)];
  Subject of{gang, snapshot.tallies[static_cast<size_t>(g)], verdict, needs_of(gang), kube::uid_of(group),
             now};
  std::string_view api_group = api_group_of(group);
  json::object status = status_of(group);
  if (api_group == kube::kVolcanoPodGroups.group) {
    volcano_status(status, of);
  } else if (api_group == kube::kKubeBatchPodGroups.group) {
    kube_batch_status(status, of);
  } else if (api_group == kube::kCoschedulingPodGroups.group) {
    coscheduling_status(status, of);
  } else {
    t9k_status(status, of, snapshot.cluster);
  }
  return if_changed(group, std::move(status));
}

std::string counted_phase(const GroupSeen* group, const Gang& gang, const Tally& tally) {
  if (group == nullptr) return "";
  bool says_phase = group->group.group == kube::kVolcanoPodGroups.group;
  std::string_view phase = says_phase ? group->group.phase : phase_when_whole(tally, gang.min_member);
  return std::string(phase.empty() ? std::string_view("Pending") : phase);
}

void count(QueueSums& sums, const Cluster& cluster, const Gang& gang, const Tally& tally,
           const std::string& phase, int times) {
  QueueSum& sum = sums[gang.queue];
  sum.gangs += times;
  add(sum.held, held_by(cluster, gang), times);
  sum.pods.pending += tally.pending * times;
  sum.pods.running += tally.running * times;
  sum.pods.succeeded += tally.succeeded * times;
  sum.pods.failed += tally.failed * times;
  sum.pods.unknown += tally.unknown * times;
  if (!phase.empty() && (sum.phases[phase] += times) == 0) sum.phases.erase(phase);
  if (sum.gangs == 0) sums.erase(gang.queue);
}

QueueSums queue_sums(const Snapshot& snapshot) {
  QueueSums out;
  for (size_t g = 0; g < snapshot.gangs.size(); ++g) {
    const Gang& gang = snapshot.gangs[g];
    const Tally& tally = snapshot.tallies[g];
    count(out, snapshot.cluster, gang, tally, counted_phase(snapshot.group_of[g], gang, tally), 1);
  }
  return out;
}

std::optional<json::object> queue_status(const json::object& queue, const Snapshot& snapshot,
                                         const QueueSums& sums, Time now) {
  std::string_view api_group = api_group_of(queue);
  const Queue* of = find_queue(snapshot.cluster, api_group, kube::name_of(queue));
  if (of == nullptr) return std::nullopt;
  json::object status = status_of(queue);
  auto known = sums.find(of->name);
  const QueueSum sum = known == sums.end() ? QueueSum{} : known->second;
  if (api_group == kube::kT9kQueues.group) {
    t9k_queue_status(status, snapshot.cluster, *of, sum, kube::uid_of(queue), now);
  } else {
    volcano_queue_status(status, snapshot.cluster, sum);
  }
  return if_changed(queue, std::move(status));
}

}  // namespace trainyard::sched
