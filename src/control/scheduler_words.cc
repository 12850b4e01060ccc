// What PodGroups, Queues and waiting pods are told after a pass, and events.
#include <algorithm>

#include "control/scheduler.h"
#include "control/take_first.h"
#include "kube/access.h"

namespace trainyard::control {
namespace {

// How many writes are sent together, bindings aside.
constexpr size_t kWordsAtOnceMax = 256;
// Pods come one by one and start one by one: what is said of their group waits for the rest.
constexpr Duration kSettle{300};
constexpr Duration kRewordPod = std::chrono::minutes(1);
constexpr Duration kRewordMember = std::chrono::minutes(10);  // its group has the newest words
constexpr int kEventsPerGangMax = 16;
// A mark is followed by the deletion that it announces, ours or another scheduler's, long before that; as
// long is it left alone by the disruption controller of Kubernetes, which takes such marks back, too.
constexpr Duration kMarkMeantFor = std::chrono::minutes(2);

}  // namespace

void Scheduler::order_status(const kube::Resource& resource, const client::Object& seen, json::object status,
                             bool at_once, Time now) {
  Owed& owed = owed_.try_emplace(std::string(kube::uid_of(*seen)), Owed{now}).first->second;
  owed.seen = true;
  if (owed.since > now) owed.since = now;
  if (!at_once && now - owed.since < kSettle) return wake_at(owed.since + kSettle);
  statuses_.push_back({resource, seen, std::move(status)});
}

// A status follows from its group, its gang and what was decided: only where one of those may be another than
// in the pass before does anybody look at it.
void Scheduler::order_statuses(const sched::Snapshot& snapshot, Time now) {
  statuses_.clear();
  for (auto& [uid, owed] : owed_) owed.seen = false;
  const sched::Verdicts verdicts = sched::verdicts_of(decisions_);
  due_.insert(snapshot_.read().begin(), snapshot_.read().end());
  for (const auto& [gang, verdict] : verdicts) due_.emplace(gang);
  std::erase_if(due_, [&](const std::string& id) {
    const int g = snapshot_.find(id);
    auto decided = verdicts.find(id);
    const sched::Verdict verdict = decided == verdicts.end() ? sched::Verdict{} : decided->second;
    return g < 0 || order_group_status(snapshot, g, verdict, now);
  });
  order_queue_statuses(snapshot, now);
  std::erase_if(owed_, [](const auto& entry) { return !entry.second.seen; });
}

// Whether its status will be the same while nothing changes and nothing is decided.
bool Scheduler::order_group_status(const sched::Snapshot& snapshot, int g, const sched::Verdict& verdict,
                                   Time now) {
  const sched::GroupSeen* seen = snapshot.group_of[static_cast<size_t>(g)];
  if (seen == nullptr || seen->group.deleting) return true;
  const GroupSight& group = view_.sight_of(*seen);
  const bool decided = verdict.admitted || verdict.bound || verdict.waiting != nullptr;
  std::optional<uint64_t> print = sched::status_print(snapshot_.print_of(g), verdict);
  if (print && group.told == print) return !decided;
  const client::Object said = group.said.object();
  std::optional<json::object> status = sched::group_status(*said, snapshot, g, verdict, now);
  if (!status) {
    group.told = print;
    return !decided;
  }
  order_status(group_resource(seen->group.group), said, std::move(*status), verdict.admitted, now);
  return false;
}

void Scheduler::order_queue_statuses(const sched::Snapshot& snapshot, Time now) {
  for (const client::Object& queue : view_.queues()) {
    std::optional<json::object> status = sched::queue_status(*queue, snapshot, snapshot_.queue_sums(), now);
    if (!status) continue;
    bool t9k = kube::text_at(*queue, {"apiVersion"}).starts_with(kube::kT9kQueues.group);
    order_status(t9k ? kube::kT9kQueues : kube::kVolcanoQueues, queue, std::move(*status), false, now);
  }
}

bool Scheduler::run_statuses(Time now) {
  if (statuses_.empty()) return false;
  std::vector<Status> batch = take_first(statuses_, kWordsAtOnceMax);
  std::vector<kube::Request> requests;
  for (Status& one : batch) {
    requests.push_back(status_request(one.resource, *one.seen, std::move(one.status)));
  }
  std::vector<Result<client::Reply>> replies = send_writes(std::move(requests));
  for (size_t i = 0; i < batch.size(); ++i) {
    std::string uid(kube::uid_of(*batch[i].seen));
    if (is_settled(replies[i])) owed_.erase(uid);
    if (replies[i].ok() && replies[i]->object != nullptr) {
      view_.wrote(batch[i].resource, replies[i]->object);
      // Queues count their groups by what those say.
      if (batch[i].resource.plural == kube::kVolcanoPodGroups.plural && !view_.queues().empty()) {
        wake_at(now + kSettle);
      }
    }
    if (!is_settled(replies[i])) failed(replies[i].error(), now);
  }
  return true;
}

void Scheduler::order_tells(const sched::Snapshot& snapshot, Time now) {
  tells_.clear();
  for (auto& [id, wait] : waits_) wait.seen = false;
  for (const sched::Waiting& waiting : decisions_.waiting) {
    const int g = snapshot_.find(waiting.gang);
    if (g < 0) continue;
    uint64_t kind = sched::kind_of(waiting);
    Wait& wait = waits_.try_emplace(waiting.gang, Wait{kind, now}).first->second;
    wait.seen = true;
    if (wait.kind != kind || wait.since > now) {
      wait.kind = kind;
      wait.since = now;
    }
    if (now - wait.since < kSettle) {
      if (wait.told != wait.kind) wake_at(wait.since + kSettle);
      continue;
    }
    order_tells_of(snapshot.gangs[static_cast<size_t>(g)], waiting, wait, now);
  }
  std::erase_if(waits_, [](const auto& entry) { return !entry.second.seen; });
  for (auto& [name, reason] : volume_waits_.reasons()) {
    const PodSight* pod = view_.find_pod(name.uid);
    if (pod != nullptr && pod->told != reason) tells_.push_back({name, reason});
  }
  order_unmarks(now);
}

// Who marked a pod may have died before it was deleted, or been refused; if nobody wants it to go any more,
// it is not left with a word that a later end or deletion of its own would be taken for.
void Scheduler::order_unmarks(Time now) {
  const std::set<std::string>& names = options_.front.schedulers;
  for (const std::string& uid : view_.marked_pods()) {
    const PodSight* pod = view_.find_pod(uid);
    bool ours = names.empty() || names.contains(pod->seen.scheduler);
    bool goes = std::any_of(decisions_.evictions.begin(), decisions_.evictions.end(),
                            [&](const sched::Eviction& one) { return one.uid == pod->seen.uid; });
    if (!ours || goes) continue;
    Time until = *pod->marked_at + kMarkMeantFor;
    if (until > now) {
      wake_at(until);
    } else {
      tells_.push_back({named(pod->seen), "", false, true});
    }
  }
}

void Scheduler::order_tells_of(const sched::Gang& gang, const sched::Waiting& waiting, Wait& wait, Time now) {
  std::string message = waiting_text(gang, waiting);
  std::string words = gist(message);
  bool alone = gang.min_member <= 1;
  int events_left = kEventsPerGangMax;
  bool all_told = true;
  for (const sched::Member& member : gang.members) {
    bool waits =
        member.state == sched::MemberState::kWaiting || member.state == sched::MemberState::kHeldBack;
    if (!waits) continue;
    const PodSight* pod = view_.find_pod(member.uid);
    if (pod == nullptr || pod->told == message || gist(pod->told) == words) continue;
    // The same cause in other words: not each time another job begins or ends.
    bool fresh = pod->told_at && now - *pod->told_at < (alone ? kRewordPod : kRewordMember);
    if (!pod->told.empty() && wait.told == wait.kind && fresh) continue;
    all_told = false;
    tells_.push_back({named(pod->seen), message, events_left-- > 0});
  }
  if (all_told) wait.told = wait.kind;
}

bool Scheduler::run_tells(Time now) {
  if (tells_.empty()) return false;
  std::vector<Tell> batch = take_first(tells_, kWordsAtOnceMax);
  std::vector<kube::Request> requests;
  for (const Tell& tell : batch) {
    requests.push_back(tell.stays ? unmark_request(tell.pod, now)
                                  : tell_pod_request(tell.pod, tell.message, now));
  }
  std::vector<Result<client::Reply>> replies = send_writes(std::move(requests));
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!is_settled(replies[i])) {
      failed(replies[i].error(), now);
    } else if (batch[i].with_event) {
      note(reference_to(batch[i].pod), true, "FailedScheduling", batch[i].message);
    }
  }
  return true;
}

bool Scheduler::run_events(Time now) {
  if (events_.empty()) return false;
  Event event = std::move(events_.front());
  events_.pop_front();
  if (leads()) recorder_.tell(*fence_, event.about, options_.component, event.text, now);
  return true;
}

}  // namespace trainyard::control
