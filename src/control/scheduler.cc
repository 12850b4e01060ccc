#include "control/scheduler.h"

#include <algorithm>

#include "control/take_first.h"
#include "kube/access.h"
#include "sched/schedule.h"

namespace trainyard::control {
namespace {

constexpr Duration kRetrySoon{200};
constexpr Duration kRetryLater{1'000};
// A pass costs time that grows with the cluster: nineteen times as long, or a second, belongs to others.
// While jobs come one by one, each pass then decides about all that came meanwhile.
constexpr int kPausePerPass = 19;
constexpr Duration kPauseMax{1'000};
constexpr size_t kEventsWaitingMax = 20'000;
// Pods that are made to leave together: the lease is renewed in between.
constexpr size_t kEvictionsAtOnceMax = 256;
// Of a pod whose binding the server refuses (an admission webhook, a quota): between one try and the next.
constexpr Duration kRefusedFirst{1'000};
constexpr Duration kRefusedMax = std::chrono::minutes(1);

void wake_no_later(std::optional<Time>& earliest, std::optional<Time> other) {
  if (other && (!earliest || *other < *earliest)) earliest = other;
}

bool is_out_of_reach(ErrorKind kind) {
  return kind == ErrorKind::kUnavailable || kind == ErrorKind::kUnknown;
}

// The server has answered, and will answer the same again.
bool is_refusal(ErrorKind kind) { return kind == ErrorKind::kForbidden || kind == ErrorKind::kInvalid; }

// Lets writes through only while we lead.
class SchedulerFence final : public client::Client {
 public:
  SchedulerFence(client::Client& client, std::function<bool()> leads)
      : client_(client), leads_(std::move(leads)) {}

  Result<client::Reply> send(kube::Request request) override {
    if (client::is_write(request) && !leads_()) return lost();
    return client_.send(std::move(request));
  }
  // What goes out at once passes the fence at once.
  std::vector<Result<client::Reply>> send_all(std::vector<kube::Request> requests) override {
    if (client_.parallel_max() <= 1) return Client::send_all(std::move(requests));
    if (!leads_()) return std::vector<Result<client::Reply>>(requests.size(), lost());
    return client_.send_all(std::move(requests));
  }
  int parallel_max() const override { return client_.parallel_max(); }

 private:
  static Error lost() {
    return {ErrorKind::kUnavailable, "the lease is lost or about to be: nothing is written"};
  }
  client::Client& client_;
  std::function<bool()> leads_;
};

// "" of none.
std::string version_of(const client::Object& object) {
  return object == nullptr ? "" : std::string(kube::text_at(*object, {"metadata", "resourceVersion"}));
}

}  // namespace

Scheduler::Scheduler(SchedulerPorts ports, SchedulerOptions options)
    : ports_(std::move(ports)),
      options_(std::move(options)),
      fence_(std::make_unique<SchedulerFence>(ports_.client, [this] { return leads(); })),
      // Of what workers send it is asked before each batch that they are given whether we lead.
      binder_(ports_.workers != nullptr ? ports_.client : *fence_, ports_.clock, ports_.workers) {
  for (const client::Stream& stream : view_.streams()) watchers_.emplace_back(stream);
  if (options_.elects_leader) lease_.emplace(options_.lease_ns, options_.lease_name, options_.identity);
}

Scheduler::~Scheduler() = default;

bool Scheduler::leads() const { return !lease_ || lead_.holds(ports_.uptime()); }

// ---- streams in ----------------------------------------------------------------

std::vector<StreamRequest> Scheduler::requests(Time now) {
  std::vector<StreamRequest> wanted;
  for (size_t i = 0; i < watchers_.size(); ++i) {
    if (!watchers_[i].wants(now)) continue;
    if (std::optional<kube::Request> request = watchers_[i].ask(now)) {
      wanted.push_back({static_cast<int>(i), std::move(*request)});
    }
  }
  return wanted;
}

void Scheduler::on_list(int stream, const Result<client::Reply>& reply, Time now) {
  take_in(stream, watchers_[static_cast<size_t>(stream)].on_list(reply, now));
  tell_health();
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
    if (std::holds_alternative<client::InitDone>(output)) awaited_.erase(stream);
  }
}

size_t Scheduler::remembered() const {
  const sched::Shapes& shapes = view_.shapes();
  return static_cast<size_t>(shapes.size() + shapes.labels().size()) + view_.assumed().size() +
         doubts_.size() + refused_.size() + owed_.size() + due_.size() + waits_.size() + evictions_.size() +
         placed_.size() + statuses_.size() + tells_.size() + events_.size();
}

// ---- one thing at a time ---------------------------------------------------------

bool Scheduler::step(Time now) {
  bool did = step_once(now);
  if (did) tell_health();
  return did;
}

void Scheduler::tell_health() {
  if (!ports_.on_health) return;
  SchedulerHealth health{counts_, leads(), view_.synced()};
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
  lead_.renewed(std::nullopt);
  std::optional<kube::Request> request = lease_->release(ports_.uptime(), now);
  client::Client& client = ports_.lease_client != nullptr ? *ports_.lease_client : ports_.client;
  if (request) (void)client.send(std::move(*request));
}

bool Scheduler::step_once(Time now) {
  if (run_lease(now)) return true;
  bool leads_now = leads();
  if (leads_now && !led_) take_lead(now);
  if (!leads_now && led_) {
    // Another may decide now: what we wanted will be old when it is our turn again.
    evictions_.clear();
    drop_bindings();
    statuses_.clear();
    tells_.clear();
  }
  led_ = leads_now;
  if (!led_) place_anew(volume_waits_.give_up_all());
  if (!led_ || !sees()) return false;
  // A clock that was set back must not hold anything up.
  if (not_before_ > now + kRetryLater + kPauseMax) not_before_ = now;
  if (run_tellings(now) || run_evictions(now) || run_bindings(now)) return true;
  if (!binder_.idle()) return false;
  return resolve_doubts(now) || run_pass(now) || run_statuses(now) || run_tells(now) || run_events(now);
}

// What another did last may not have been told yet, by a watch that is slow or stuck, and nothing but what we
// have seen keeps two pods out of one place: everything is listed anew before anything is decided.
void Scheduler::take_lead(Time now) {
  dirty_ = true;
  if (!lease_ || !lease_->took_over()) return;
  for (size_t i = 0; i < watchers_.size(); ++i) {
    watchers_[i].relist(now);
    awaited_.insert(static_cast<int>(i));
  }
}

bool Scheduler::run_lease(Time now) {
  if (!lease_) return false;
  Duration sent = ports_.uptime();
  std::optional<kube::Request> request = lease_->ask(sent, now);
  if (!request) return false;
  client::Client& client = ports_.lease_client != nullptr ? *ports_.lease_client : ports_.client;
  Result<client::Reply> reply = client.send(std::move(*request));
  lease_->answer(reply, sent, ports_.uptime());
  lead_.renewed(lease_->renewed_at());
  return true;
}

void Scheduler::failed(const Error& error, Time now) {
  ++counts_.errors;
  counts_.last_error = error.message;
  dirty_ = true;
  Duration pause = is_out_of_reach(error.kind) ? kRetryLater : kRetrySoon;
  not_before_ = std::max(not_before_, now + pause);
}

// All of a batch are marked, then those of which that is known are deleted.
bool Scheduler::run_evictions(Time now) {
  if (evictions_.empty()) return false;
  std::vector<Evict> batch = take_first(evictions_, kEvictionsAtOnceMax);
  std::vector<kube::Request> marks;
  for (const Evict& one : batch) marks.push_back(mark_evicted_request(one.pod, one.eviction, now));
  std::vector<Result<client::Reply>> marked = send_writes(std::move(marks));
  std::vector<Evict> leaving;
  std::vector<kube::Request> deletions;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!marked[i].ok()) {
      settle_eviction(batch[i], marked[i], now);
      continue;
    }
    deletions.push_back(evict_request(batch[i].pod, version_of(marked[i]->object)));
    leaving.push_back(std::move(batch[i]));
  }
  std::vector<Result<client::Reply>> deleted = send_writes(std::move(deletions));
  for (size_t i = 0; i < leaving.size(); ++i) settle_eviction(leaving[i], deleted[i], now);
  return true;
}

void Scheduler::settle_eviction(const Evict& one, const Result<client::Reply>& answer, Time now) {
  if (!is_settled(answer)) return failed(answer.error(), now);
  ++counts_.evicted;
  note(reference_to(one.pod), true, "Preempted", eviction_text(one.eviction));
}

std::vector<Result<client::Reply>> Scheduler::send_writes(std::vector<kube::Request> requests) {
  counts_.writes += static_cast<int64_t>(requests.size());
  return fence_->send_all(std::move(requests));
}

bool Scheduler::run_bindings(Time now) {
  while (binder_.may_send() && leads()) {
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
      refused_.erase(bind.pod.uid);
      continue;
    }
    const Error& error = landed.replies[i].error();
    failed(error, now);
    if (error.kind == ErrorKind::kUnknown) {
      doubts_[bind.pod.uid] = now;
    } else {
      view_.forget_assumed(bind.pod.uid);
    }
    if (is_refusal(error.kind)) put_off(bind, error, now);
    // Nobody answers: what was decided will be old when somebody does.
    if (is_out_of_reach(error.kind)) drop_bindings();
  }
  if (binder_.idle()) tell_placed();
}

// Its gang keeps the place that it was given, and is not sent again for a while.
void Scheduler::put_off(const Bind& bind, const Error& error, Time now) {
  Refused& refused = refused_[bind.pod.uid];
  refused.pause = std::clamp(refused.pause * 2, kRefusedFirst, kRefusedMax);
  refused.until = now + refused.pause;
  std::string message = fmt::format("its binding to {} was refused: {}", bind.node, error.message);
  const PodSight* pod = view_.find_pod(bind.pod.uid);
  if (pod != nullptr && pod->told != message) tells_.push_back({bind.pod, std::move(message), true});
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
    // Who may not ask finds out by binding again: a pod that has a node is not given another.
    bool known = found.ok() || found.error().kind == ErrorKind::kNotFound || is_refusal(found.error().kind);
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
  const sched::Changes changes = view_.take_changes();
  const sched::Snapshot& snapshot = snapshot_.update(view_, view_.shapes(), changes);
  decide(snapshot, now);
  order_writes(now);
  order_statuses(snapshot, now);
  order_tells(snapshot, now);
  counts_.last_pass = std::max(Duration{0}, ports_.clock() - began);
  not_before_ = now + std::min(counts_.last_pass * kPausePerPass, kPauseMax) + counts_.last_pass;
  return true;
}

void Scheduler::decide(const sched::Snapshot& snapshot, Time now) {
  bool stands = snapshot_.revision() == decided_on_ && (!decision_ends_ || now < *decision_ends_);
  if (!stands) {
    decisions_ = sched::schedule(snapshot_.standing(), snapshot.gangs, options_.policy, now);
    decided_on_ = snapshot_.revision();
    decision_ends_ = decisions_.wake;
  }
  if (decision_ends_) wake_at(std::max(*decision_ends_, now + kRetryLater));
  counts_.waiting = static_cast<int64_t>(decisions_.waiting.size());
  counts_.infeasible = std::count_if(
      decisions_.waiting.begin(), decisions_.waiting.end(),
      [](const sched::Waiting& waiting) { return waiting.kind == sched::WaitKind::kInfeasible; });
}

std::set<std::string> Scheduler::gangs_put_off(Time now) {
  std::erase_if(refused_, [&](const auto& entry) { return view_.find_pod(entry.first) == nullptr; });
  std::set<std::string> gangs;
  for (const sched::Binding& binding : decisions_.bindings) {
    auto refused = refused_.find(binding.uid);
    // A pause that is longer than any: the clock was set back.
    if (refused == refused_.end() || refused->second.until > now + kRefusedMax) continue;
    if (refused->second.until <= now) continue;
    gangs.insert(binding.gang);
    wake_at(refused->second.until);
  }
  return gangs;
}

void Scheduler::order_writes(Time now) {
  for (const sched::Eviction& eviction : decisions_.evictions) {
    if (const PodSight* pod = view_.find_pod(eviction.uid))
      evictions_.push_back({named(pod->seen), eviction});
  }
  std::set<std::string> put_off = gangs_put_off(now);
  std::set<std::string> delayed = volume_waits_.delayed(decisions_.bindings, view_);
  std::map<std::string, std::string> volumes;
  for (const sched::VolumeBinding& one : decisions_.volumes) volumes[one.claim] = one.volume;
  for (const sched::Binding& binding : decisions_.bindings) {
    const PodSight* pod = view_.find_pod(binding.uid);
    if (pod == nullptr || put_off.contains(binding.gang)) continue;
    if (delayed.contains(binding.gang)) {
      view_.assume(binding.uid, binding.node);
      volume_waits_.hold(binding.gang, {named(pod->seen), binding.node}, volumes, view_, now);
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
  if (lease_) wake_no_later(wake, ports_.clock() + (lease_->next_ask() - ports_.uptime()));
  if (!led_ && lease_) return wake;
  if (!sees()) return wake;
  if (volume_waits_.has_tellings()) return Time{0};
  bool busy =
      !evictions_.empty() || !binder_.idle() || !statuses_.empty() || !tells_.empty() || !events_.empty();
  if (busy) return Time{0};
  for (const auto& [uid, when] : doubts_) wake_no_later(wake, when);
  if (!doubts_.empty()) return wake;
  if (dirty_) wake_no_later(wake, not_before_);
  wake_no_later(wake, wake_);
  return wake;
}

}  // namespace trainyard::control
