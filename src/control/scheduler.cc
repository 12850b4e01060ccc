#include "control/scheduler.h"

#include <algorithm>

#include "kube/access.h"
#include "sched/schedule.h"

namespace trainyard::control {
namespace {

// How many writes are sent together, bindings aside.
constexpr size_t kWordsAtOnceMax = 256;
constexpr Duration kRetrySoon{200};
constexpr Duration kRetryLater{1'000};
// A pass costs time that grows with the cluster: as long again, or less, belongs to others.
constexpr Duration kPauseMax{250};
// Pods come one by one and start one by one: what is said of their group waits for the rest.
constexpr Duration kSettle{300};
constexpr Duration kRewordPod = std::chrono::minutes(1);
constexpr Duration kRewordMember = std::chrono::minutes(10);  // its group has the newest words
constexpr int kEventsPerGangMax = 16;
constexpr size_t kEventsWaitingMax = 20'000;

void wake_no_later(std::optional<Time>& earliest, std::optional<Time> other) {
  if (other && (!earliest || *other < *earliest)) earliest = other;
}

template <typename T>
std::vector<T> take_first(std::deque<T>& from, size_t count) {
  auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(count, from.size()));
  std::vector<T> out(std::make_move_iterator(from.begin()), std::make_move_iterator(end));
  from.erase(from.begin(), end);
  return out;
}

bool is_settled(const Result<client::Reply>& reply) {
  return reply.ok() || reply.error().kind == ErrorKind::kNotFound;
}

bool is_out_of_reach(ErrorKind kind) {
  return kind == ErrorKind::kUnavailable || kind == ErrorKind::kUnknown;
}

}  // namespace

// Fence: lets writes through only while we lead.
class Scheduler::Fence final : public client::Client {
 public:
  explicit Fence(const Scheduler& owner) : owner_(owner) {}

  Result<client::Reply> send(kube::Request request) override {
    if (client::is_write(request) && !leads()) return lost();
    return owner_.ports_.client.send(std::move(request));
  }
  std::vector<Result<client::Reply>> send_all(std::vector<kube::Request> requests) override {
    if (!leads()) return std::vector<Result<client::Reply>>(requests.size(), lost());
    return owner_.ports_.client.send_all(std::move(requests));
  }
  int parallel_max() const override { return owner_.ports_.client.parallel_max(); }

 private:
  bool leads() const { return owner_.leads(owner_.ports_.clock()); }
  static Error lost() {
    return {ErrorKind::kUnavailable, "the lease is lost or about to be: nothing is written"};
  }
  const Scheduler& owner_;
};

Scheduler::Scheduler(SchedulerPorts ports, SchedulerOptions options)
    : ports_(std::move(ports)),
      options_(std::move(options)),
      fence_(std::make_unique<Fence>(*this)),
      binder_(ports_.client, ports_.clock, ports_.workers) {
  for (const client::Stream& stream : view_.streams()) watchers_.emplace_back(stream);
  if (options_.elects_leader) lease_.emplace(options_.lease_ns, options_.lease_name, options_.identity);
}

Scheduler::~Scheduler() = default;

bool Scheduler::leads(Time now) const { return !lease_ || lease_->leads(now); }

// ---- streams in ----------------------------------------------------------------

std::vector<StreamRequest> Scheduler::requests(Time now) {
  std::vector<StreamRequest> wanted;
  for (size_t i = 0; i < watchers_.size(); ++i) {
    if (std::optional<kube::Request> request = watchers_[i].ask(now)) {
      wanted.push_back({static_cast<int>(i), std::move(*request)});
    }
  }
  return wanted;
}

void Scheduler::on_list(int stream, const Result<client::Reply>& reply, Time now) {
  take_in(stream, watchers_[static_cast<size_t>(stream)].on_list(reply, now));
  tell_health(now);
}

void Scheduler::on_opened(int stream) { watchers_[static_cast<size_t>(stream)].on_opened(); }

void Scheduler::on_event(int stream, const client::WatchEvent& event, Time now) {
  take_in(stream, watchers_[static_cast<size_t>(stream)].on_event(event, now));
}

void Scheduler::on_closed(int stream, const std::optional<Error>& error, Time now) {
  watchers_[static_cast<size_t>(stream)].on_closed(error, now);
}

void Scheduler::take_in(int stream, const std::vector<client::Output>& outputs) {
  for (const client::Output& output : outputs) {
    if (view_.take_in(stream, output)) dirty_ = true;
  }
}

// ---- one thing at a time ---------------------------------------------------------

bool Scheduler::step(Time now) {
  bool did = step_once(now);
  if (did) tell_health(now);
  return did;
}

void Scheduler::tell_health(Time now) {
  if (!ports_.on_health) return;
  SchedulerHealth health{counts_, leads(now), view_.synced()};
  for (const client::Watcher& watcher : watchers_) {
    if (!watcher.trouble() || watcher.absent()) continue;
    health.troubles.push_back(
        fmt::format("{}: {}", watcher.stream().resource.plural, watcher.trouble()->message));
  }
  ports_.on_health(health);
}

void Scheduler::hand_over(Time now) {
  while (std::optional<Binder::Landed> landed = binder_.take_landed()) settle_bindings(*landed, now);
  tell_placed();
  if (!lease_) return;
  std::optional<kube::Request> request = lease_->release(now);
  client::Client& client = ports_.lease_client != nullptr ? *ports_.lease_client : ports_.client;
  if (request) (void)client.send(std::move(*request));
}

bool Scheduler::step_once(Time now) {
  if (run_lease(now)) return true;
  bool leads_now = leads(now);
  if (leads_now && !led_) dirty_ = true;
  if (!leads_now && led_) {
    // Another may decide now: what we wanted will be old when it is our turn again.
    evictions_.clear();
    drop_bindings();
  }
  led_ = leads_now;
  if (!led_) place_anew(volume_waits_.give_up_all());
  if (!led_ || !view_.synced()) return false;
  // A clock that was set back must not hold anything up.
  if (not_before_ > now + kRetryLater + kPauseMax) not_before_ = now;
  if (run_selects(now) || run_evictions(now) || run_bindings(now)) return true;
  if (!binder_.idle()) return false;
  return resolve_doubts(now) || run_pass(now) || run_statuses(now) || run_tells(now) || run_events(now);
}

bool Scheduler::run_lease(Time now) {
  if (!lease_) return false;
  std::optional<kube::Request> request = lease_->ask(now);
  if (!request) return false;
  client::Client& client = ports_.lease_client != nullptr ? *ports_.lease_client : ports_.client;
  lease_->answer(client.send(std::move(*request)), now, ports_.clock());
  return true;
}

void Scheduler::failed(const Error& error, Time now) {
  ++counts_.errors;
  counts_.last_error = error.message;
  dirty_ = true;
  Duration pause = is_out_of_reach(error.kind) ? kRetryLater : kRetrySoon;
  not_before_ = std::max(not_before_, now + pause);
}

bool Scheduler::run_evictions(Time now) {
  if (evictions_.empty()) return false;
  Evict one = std::move(evictions_.front());
  evictions_.pop_front();
  counts_.writes += 2;
  Result<client::Reply> done = fence_->send(mark_evicted_request(one.pod, one.eviction, now));
  if (done.ok()) done = fence_->send(evict_request(one.pod));
  if (!is_settled(done)) {
    failed(done.error(), now);
    return true;
  }
  ++counts_.evicted;
  note(reference_to(one.pod), true, "Preempted", eviction_text(one.eviction));
  return true;
}

bool Scheduler::run_bindings(Time now) {
  while (binder_.may_send() && leads(ports_.clock())) {
    std::vector<Bind> batch = binder_.next();
    for (const Bind& bind : batch) view_.assume(bind.pod.uid, bind.node);
    counts_.writes += static_cast<int64_t>(batch.size());
    binder_.send(std::move(batch));
  }
  std::optional<Binder::Landed> landed = binder_.take_landed();
  if (landed) settle_bindings(*landed, now);
  return landed.has_value();
}

void Scheduler::settle_bindings(const Binder::Landed& landed, Time now) {
  for (size_t i = 0; i < landed.binds.size(); ++i) {
    const Bind& bind = landed.binds[i];
    if (landed.replies[i].ok()) {
      ++counts_.bound;
      placed_.push_back(bind);
      continue;
    }
    const Error& error = landed.replies[i].error();
    failed(error, now);
    if (error.kind == ErrorKind::kUnknown) {
      doubts_[bind.pod.uid] = now;
    } else {
      view_.forget_assumed(bind.pod.uid);
    }
    // Nobody answers: what was decided will be old when somebody does.
    if (is_out_of_reach(error.kind)) drop_bindings();
  }
  if (binder_.idle()) tell_placed();
}

// Those whose volumes were waited for are assumed before they are sent.
void Scheduler::drop_bindings() {
  for (const Bind& bind : binder_.drop_waiting()) view_.forget_assumed(bind.pod.uid);
}

// Words come after deeds: an event for each pod would cost the server as much as its binding does.
void Scheduler::tell_placed() {
  for (const Bind& bind : placed_) {
    note(reference_to(bind.pod), false, "Scheduled",
         fmt::format("Successfully assigned {}/{} to {}", bind.pod.ns, bind.pod.name, bind.node));
  }
  placed_.clear();
}

bool Scheduler::resolve_doubts(Time now) {
  for (auto it = doubts_.begin(); it != doubts_.end(); ++it) {
    auto& [uid, when] = *it;
    const PodSight* pod = view_.find_pod(uid);
    if (pod == nullptr || !view_.assumed().contains(uid)) {
      doubts_.erase(it);
      return true;
    }
    if (when > now && when <= now + kRetryLater) continue;
    Result<client::Object> found = client::get(*fence_, kube::kPods, pod->seen.ns, pod->seen.name);
    bool known = found.ok() || found.error().kind == ErrorKind::kNotFound;
    if (!known) {
      when = now + kRetryLater;
      continue;
    }
    bool bound =
        found.ok() && kube::uid_of(**found) == uid && !kube::text_at(**found, {"spec", "nodeName"}).empty();
    if (!bound) {
      view_.forget_assumed(uid);
      dirty_ = true;
    }
    doubts_.erase(it);
    return true;
  }
  return false;
}

// ---- volumes that are made for the node ------------------------------------------------

bool Scheduler::run_selects(Time now) {
  std::optional<VolumeWaits::Select> next = volume_waits_.next_select();
  if (!next) return false;
  ++counts_.writes;
  Result<client::Reply> done = fence_->send(select_node_request(next->claim, next->node));
  if (!done.ok()) {
    failed(done.error(), now);
    place_anew(volume_waits_.give_up(next->gang));
  }
  return true;
}

void Scheduler::settle_volumes(Time now) {
  view_.look_at_claims();
  VolumeWaits::Outcome outcome = volume_waits_.look(view_, now);
  for (Bind& bind : outcome.ready) binder_.add(std::move(bind));
  place_anew(outcome.given_up);
}

void Scheduler::place_anew(const std::vector<std::string>& uids) {
  for (const std::string& uid : uids) view_.forget_assumed(uid);
  if (!uids.empty()) dirty_ = true;
}

// ---- the pass ----------------------------------------------------------------------

bool Scheduler::run_pass(Time now) {
  bool due = (dirty_ && now >= not_before_) || (wake_ && *wake_ <= now);
  // What may or may not be done must be known first, or a gang is placed beside itself.
  if (!due || !doubts_.empty()) return false;
  dirty_ = false;
  wake_.reset();
  ++counts_.passes;
  Time began = ports_.clock();
  settle_volumes(now);
  sched::Documents documents = view_.documents();
  sched::Snapshot snapshot = sched::assemble(documents, view_.shapes(), options_.front);
  decide(snapshot, now);
  order_writes(now);
  order_statuses(snapshot, documents.groups, now);
  order_tells(snapshot, now);
  counts_.last_pass = std::max(Duration{0}, ports_.clock() - began);
  not_before_ = now + std::min(counts_.last_pass * 2, kPauseMax) + counts_.last_pass;
  return true;
}

void Scheduler::decide(const sched::Snapshot& snapshot, Time now) {
  uint64_t print = sched::fingerprint(snapshot.cluster, snapshot.gangs, options_.policy);
  bool stands = print == decided_on_ && (!decision_ends_ || now < *decision_ends_);
  if (!stands) {
    decisions_ = sched::schedule(snapshot.cluster, snapshot.gangs, options_.policy, now);
    decided_on_ = print;
    decision_ends_ = decisions_.wake;
  }
  if (decision_ends_) wake_at(std::max(*decision_ends_, now + kRetryLater));
  counts_.waiting = static_cast<int64_t>(decisions_.waiting.size());
  counts_.infeasible = std::count_if(
      decisions_.waiting.begin(), decisions_.waiting.end(),
      [](const sched::Waiting& waiting) { return waiting.kind == sched::WaitKind::kInfeasible; });
}

void Scheduler::order_writes(Time now) {
  for (const sched::Eviction& eviction : decisions_.evictions) {
    if (const PodSight* pod = view_.find_pod(eviction.uid))
      evictions_.push_back({named(pod->seen), eviction});
  }
  std::set<std::string> delayed = volume_waits_.delayed(decisions_.bindings, view_);
  for (const sched::Binding& binding : decisions_.bindings) {
    const PodSight* pod = view_.find_pod(binding.uid);
    if (pod == nullptr) continue;
    if (delayed.contains(binding.gang)) {
      view_.assume(binding.uid, binding.node);
      volume_waits_.hold(binding.gang, {named(pod->seen), binding.node}, view_, now);
    } else {
      binder_.add({named(pod->seen), binding.node});
    }
  }
  if (std::optional<Time> next = volume_waits_.next_look()) wake_at(*next);
}

void Scheduler::wake_at(Time time) { wake_no_later(wake_, time); }

void Scheduler::note(json::object about, bool warning, std::string_view reason, std::string message) {
  dialect::EventText text{warning, std::string(reason), std::move(message)};
  if (ports_.events != nullptr) {
    return ports_.events->tell(about, options_.component, text, ports_.clock());
  }
  if (events_.size() >= kEventsWaitingMax) events_.pop_front();
  events_.push_back({std::move(about), std::move(text)});
}

std::optional<Time> Scheduler::next_wake() const {
  std::optional<Time> wake;
  for (const client::Watcher& watcher : watchers_) wake_no_later(wake, watcher.next_ask());
  if (lease_) wake_no_later(wake, lease_->next_ask());
  if (!led_ && lease_) return wake;
  if (!view_.synced()) return wake;
  if (volume_waits_.has_selects()) return Time{0};
  bool busy =
      !evictions_.empty() || !binder_.idle() || !statuses_.empty() || !tells_.empty() || !events_.empty();
  if (busy) return Time{0};
  for (const auto& [uid, when] : doubts_) wake_no_later(wake, when);
  if (!doubts_.empty()) return wake;
  if (dirty_) wake_no_later(wake, not_before_);
  wake_no_later(wake, wake_);
  return wake;
}

// ---- telling -------------------------------------------------------------------------

void Scheduler::order_status(const kube::Resource& resource, const client::Object& seen, json::object status,
                             bool at_once, Time now) {
  Time& since = owed_.try_emplace(std::string(kube::uid_of(*seen)), now).first->second;
  if (since > now) since = now;
  if (!at_once && now - since < kSettle) return wake_at(since + kSettle);
  statuses_.push_back({resource, seen, std::move(status)});
}

void Scheduler::order_statuses(const sched::Snapshot& snapshot,
                               const std::vector<const sched::GroupSeen*>& groups, Time now) {
  statuses_.clear();
  std::vector<sched::Verdict> verdicts = sched::verdicts_of(snapshot, decisions_);
  for (size_t g = 0; g < snapshot.gangs.size(); ++g) {
    int place = snapshot.group_of[g];
    if (place < 0) continue;
    const GroupSight& group = *view_.groups()[static_cast<size_t>(place)];
    std::optional<json::object> status =
        group.seen.group.deleting
            ? std::nullopt
            : sched::group_status(*group.object, snapshot, static_cast<int>(g), verdicts[g], now);
    if (!status) {
      owed_.erase(group.seen.group.uid);
      continue;
    }
    order_status(group_resource(group.seen.group.group), group.object, std::move(*status),
                 verdicts[g].admitted, now);
  }
  for (const client::Object& queue : view_.queues()) {
    std::optional<json::object> status = sched::queue_status(*queue, snapshot, groups, now);
    if (!status) {
      owed_.erase(std::string(kube::uid_of(*queue)));
      continue;
    }
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
  counts_.writes += static_cast<int64_t>(batch.size());
  std::vector<Result<client::Reply>> replies = fence_->send_all(std::move(requests));
  for (size_t i = 0; i < batch.size(); ++i) {
    std::string uid(kube::uid_of(*batch[i].seen));
    if (is_settled(replies[i])) owed_.erase(uid);
    if (replies[i].ok() && replies[i]->object != nullptr) {
      view_.wrote(uid, kube::version_of(*replies[i]->object));
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
  std::map<std::string_view, const sched::Gang*> gangs;
  for (const sched::Gang& gang : snapshot.gangs) gangs.emplace(gang.id, &gang);
  for (const sched::Waiting& waiting : decisions_.waiting) {
    auto gang = gangs.find(waiting.gang);
    if (gang == gangs.end()) continue;
    Wait& wait = waits_.try_emplace(waiting.gang, Wait{waiting.code, now}).first->second;
    wait.seen = true;
    if (wait.code != waiting.code || wait.since > now) {
      wait.code = waiting.code;
      wait.since = now;
    }
    if (now - wait.since < kSettle) {
      if (wait.told != wait.code) wake_at(wait.since + kSettle);
      continue;
    }
    order_tells_of(*gang->second, waiting, wait, now);
  }
  std::erase_if(waits_, [](const auto& entry) { return !entry.second.seen; });
  for (auto& [name, reason] : volume_waits_.reasons()) {
    const PodSight* pod = view_.find_pod(name.uid);
    if (pod != nullptr && pod->told != reason) tells_.push_back({name, reason});
  }
}

void Scheduler::order_tells_of(const sched::Gang& gang, const sched::Waiting& waiting, Wait& wait, Time now) {
  std::string message = waiting_text(gang, waiting);
  std::string words = gist(message);
  bool alone = gang.min_member <= 1;
  int events_left = kEventsPerGangMax;
  bool all_told = true;
  for (const sched::Member& member : gang.members) {
    if (member.state != sched::MemberState::kWaiting) continue;
    const PodSight* pod = view_.find_pod(member.uid);
    if (pod == nullptr || gist(pod->told) == words) continue;
    // The same cause in other words: not each time another job begins or ends.
    bool fresh = pod->told_at && now - *pod->told_at < (alone ? kRewordPod : kRewordMember);
    if (!pod->told.empty() && wait.told == wait.code && fresh) continue;
    all_told = false;
    tells_.push_back({named(pod->seen), message, events_left-- > 0});
  }
  if (all_told) wait.told = wait.code;
}

bool Scheduler::run_tells(Time now) {
  if (tells_.empty()) return false;
  std::vector<Tell> batch = take_first(tells_, kWordsAtOnceMax);
  std::vector<kube::Request> requests;
  for (const Tell& tell : batch) requests.push_back(tell_pod_request(tell.pod, tell.message, now));
  counts_.writes += static_cast<int64_t>(batch.size());
  std::vector<Result<client::Reply>> replies = fence_->send_all(std::move(requests));
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
  if (leads(now)) recorder_.tell(*fence_, event.about, options_.component, event.text, now);
  return true;
}

}  // namespace trainyard::control
