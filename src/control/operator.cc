#include "control/operator.h"

#include "control/direct_events.h"
#include "kube/access.h"
#include "kube/same.h"

namespace trainyard::control {

using client::Changed;
using client::Object;

namespace {

constexpr Duration kTombstoneAgeMax{600'000};
constexpr Duration kSweepEvery{60'000};

void keep_earlier(std::optional<Time>& earliest, std::optional<Time> other) {
  if (other && (!earliest || *other < *earliest)) earliest = other;
}

// Whether two states of one object concern the same jobs: these are told by its labels and owners, and
// of a command by what it says.
bool belongs_alike(const json::object& a, const json::object& b) {
  if (kube::text_at(a, {"kind"}) == kube::kVolcanoCommands.kind) return false;
  for (std::string_view part : {"labels", "ownerReferences"}) {
    const json::value* of_a = kube::find(a, {"metadata", part});
    const json::value* of_b = kube::find(b, {"metadata", part});
    if (of_a == nullptr || of_b == nullptr ? of_a != of_b : !kube::same(*of_a, *of_b)) return false;
  }
  return true;
}

}  // namespace

// Fence: lets writes through only while we lead.
class Operator::Fence final : public client::Client {
 public:
  explicit Fence(const Operator& owner) : owner_(owner) {}

  Result<client::Reply> send(kube::Request request) override {
    if (client::is_write(request) && !owner_.leads()) {
      return Error{ErrorKind::kUnavailable, "the lease is lost or about to be: nothing is written"};
    }
    return owner_.ports_.client.send(std::move(request));
  }
  // What goes out at once passes the fence at once.
  std::vector<Result<client::Reply>> send_all(std::vector<kube::Request> requests) override {
    size_t together = static_cast<size_t>(owner_.ports_.client.parallel_max());
    if (together <= 1 || requests.size() <= 1) return Client::send_all(std::move(requests));
    bool leads = owner_.leads();
    if (requests.size() <= together && leads) return owner_.ports_.client.send_all(std::move(requests));
    std::vector<Result<client::Reply>> replies;
    for (size_t first = 0; first < requests.size(); first += together) {
      size_t end = std::min(requests.size(), first + together);
      std::vector<kube::Request> batch;
      for (size_t i = first; i < end; ++i) batch.push_back(std::move(requests[i]));
      if (!owner_.leads()) {
        for (kube::Request& request : batch) replies.push_back(send(std::move(request)));
        continue;
      }
      for (Result<client::Reply>& reply : owner_.ports_.client.send_all(std::move(batch))) {
        replies.push_back(std::move(reply));
      }
    }
    return replies;
  }

 private:
  const Operator& owner_;
};

// Flight: a pass on its way, with the workers or back from them.
struct Operator::Flight {
  std::unique_ptr<Errand> errand;
  Duration queued{0};
  Time begun;
};

Operator::Operator(OperatorPorts ports, std::vector<dialect::Dialect> dialects, OperatorOptions options)
    : ports_(std::move(ports)),
      dialects_(std::move(dialects)),
      options_(std::move(options)),
      fence_(std::make_unique<Fence>(*this)),
      view_(make_view(dialects_, options_.around, options_.namespaces, options_.at_rest)) {
  for (const client::Stream& stream : view_.streams) watchers_.emplace_back(stream);
  health_.resize(watchers_.size());
  if (options_.elects_leader) lease_.emplace(options_.lease_ns, options_.lease_name, options_.identity);
  led_ = !options_.elects_leader;
  if (ports_.events == nullptr) own_events_ = std::make_unique<DirectEvents>(*fence_);
  EventSink& events = ports_.events != nullptr ? *ports_.events : *own_events_;
  reconciler_ =
      std::make_unique<Reconciler>(*fence_, events, view_, dialects_, options_.settings, ports_.make_keys);
}

Operator::~Operator() = default;

bool Operator::leads() const { return !options_.elects_leader || lead_.holds(ports_.uptime()); }

void Operator::set_waker(const std::function<void()>& wake) {
  std::lock_guard lock(mutex_);
  wake_ = wake;
}

// ---- streams in ----------------------------------------------------------------

std::vector<StreamRequest> Operator::requests(Time now) {
  std::vector<StreamRequest> wanted;
  for (size_t i = 0; i < watchers_.size(); ++i) {
    if (!watchers_[i].wants(now)) continue;
    if (std::optional<kube::Request> request = watchers_[i].ask(now)) {
      if (wanted.empty()) wanted.reserve(watchers_.size() - i);
      wanted.push_back({static_cast<int>(i), std::move(*request)});
    }
  }
  return wanted;
}

void Operator::on_list(int stream, const Result<client::Reply>& reply, Time now) {
  take_in(stream, watchers_[stream].on_list(reply, now), now);
  note_stream(stream);
}

void Operator::on_opened(int stream) {
  watchers_[stream].on_opened();
  note_stream(stream);
}

void Operator::on_event(int stream, const client::WatchEvent& event, Time now) {
  take_in(stream, watchers_[stream].on_event(event, now), now);
  note_stream(stream);
}

void Operator::on_closed(int stream, const std::optional<Error>& error, Time now) {
  watchers_[stream].on_closed(error, now);
  note_stream(stream);
}

// Tells the observer when a stream fares otherwise than before.
void Operator::note_stream(int stream) {
  if (ports_.observer == nullptr) return;
  const client::Watcher& watcher = watchers_[stream];
  StreamHealth health;
  if (view_.caches[stream].synced()) health.state = StreamState::kFine;
  if (const std::optional<Error>& trouble = watcher.trouble()) {
    health.state = trouble->kind == ErrorKind::kForbidden ? StreamState::kRefused : StreamState::kFailing;
    health.why = trouble->message;
  }
  if (watcher.absent()) health.state = StreamState::kAbsent;
  if (health == health_[stream]) return;
  health_[stream] = health;
  ports_.observer->stream_is(stream, watcher.stream(), health);
}

void Operator::take_in(int stream, const std::vector<client::Output>& outputs, Time now) {
  auto look = [&](const Changed& changed) {
    const Time due = now + gathering(view_.place_of(stream));
    // Whose it was is of interest only where that is not whose it is.
    const bool stays = changed.akin && view_.place_of(stream) != view_.commands;
    if (Object before = stays ? nullptr : changed.before()) {
      const bool moved = changed.after == nullptr || !belongs_alike(*before, *changed.after);
      if (moved) wake_jobs_of(stream, *before, due);
    }
    if (changed.after != nullptr) wake_jobs_of(stream, *changed.after, due);
  };
  for (const client::Output& output : outputs) {
    view_.caches[stream].apply(output, now, look);
    if (!std::holds_alternative<client::InitDone>(output)) continue;
    for (const JobKey& key : barrier_.expecting(stream)) queue_.add(key, now);
  }
}

void Operator::wake(int dialect, std::string_view ns, std::string_view name, Time now) {
  int jobs = view_.in(view_.dialects[dialect].jobs, ns);
  if (name.empty() || jobs < 0 || !view_.caches[jobs].contains(ns, name)) return;
  look_at({dialect, std::string(ns), std::string(name)}, now);
}

void Operator::look_at(JobKey key, Time now) {
  // Who stands by looks at every job that there is once it leads, and at none that is gone by then.
  if (!led_) return;
  if (ports_.observer != nullptr) due_since_.emplace(key, now);
  queue_.add(key, now);
}

// Pods of a job change together: looking once at all of it saves passes and writes.
Duration Operator::gathering(int place) const {
  for (const DialectStreams& streams : view_.dialects) {
    if (place != streams.pods && place != streams.services) continue;
    bool busy = ports_.workers != nullptr && in_flight_ >= ports_.workers->threads();
    return busy ? options_.gather_busy : options_.gather;
  }
  return Duration{0};
}

// The jobs whose plan may depend on this object.
void Operator::wake_jobs_of(int stream, const json::object& object, Time now) {
  std::string_view ns = kube::namespace_of(object);
  int place = view_.place_of(stream);
  for (size_t i = 0; i < dialects_.size(); ++i) {
    int dialect = static_cast<int>(i);
    const DialectStreams& streams = view_.dialects[i];
    // One that is gone as well: what is remembered of it goes with the pass that finds nothing.
    if (place == streams.jobs) {
      return look_at({dialect, std::string(ns), std::string(kube::name_of(object))}, now);
    }
    if (place == streams.pods || place == streams.services) {
      const std::string name = dialects_[i].job_name_of(object);
      wake(dialect, ns, name, now);
      wake_owner(object, {dialect, name}, now);
      return;
    }
  }
  if (place == view_.commands) {
    for (size_t i = 0; i < dialects_.size(); ++i) {
      if (dialects_[i].see_command == nullptr) continue;
      std::optional<dialect::CommandFor> command = dialects_[i].see_command(object);
      if (command) wake(static_cast<int>(i), ns, command->job, now);
    }
    return;
  }
  if (!kube::controller_uid_of(object).empty()) return wake_owner(object, {}, now);
  // Somebody's own claim or gang: any job beside it may have been waiting for it.
  for (size_t i = 0; i < dialects_.size(); ++i) {
    const auto& jobs = view_.cache(view_.dialects[i].jobs, ns).all();
    for (auto it = jobs.lower_bound({std::string(ns), ""}); it != jobs.end() && it->first.ns == ns; ++it) {
      look_at({static_cast<int>(i), it->first.ns, it->first.name}, now);
    }
  }
}

// Most owners are the job whose name the object bears.
void Operator::wake_owner(const json::object& object, const Woken& woken, Time now) {
  const json::array* owners = kube::array_at(object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return;
  for (const json::value& entry : *owners) {
    const json::object* owner = entry.if_object();
    if (owner == nullptr) continue;
    for (size_t i = 0; i < dialects_.size(); ++i) {
      if (!dialects_[i].recognises(kube::text_at(*owner, {"apiVersion"}), kube::text_at(*owner, {"kind"})))
        continue;
      const std::string_view name = kube::text_at(*owner, {"name"});
      if (woken.dialect == static_cast<int>(i) && woken.name == name) continue;
      wake(static_cast<int>(i), kube::namespace_of(object), name, now);
    }
  }
}

void Operator::wake_everything(Time now) {
  for (size_t stream = 0; stream < view_.streams.size(); ++stream) {
    for (size_t i = 0; i < dialects_.size(); ++i) {
      if (view_.place_of(static_cast<int>(stream)) != view_.dialects[i].jobs) continue;
      for (const auto& [key, job] : view_.caches[stream].all()) {
        queue_.add({static_cast<int>(i), key.ns, key.name}, now);
      }
    }
  }
}

// ---- one thing at a time ---------------------------------------------------------

std::optional<Turn> Operator::run_one(Time now) {
  if (std::optional<Turn> turn = run_lease(now)) return turn;
  bool leads_now = leads();
  // After a step back of the clock everything would be looked at too late.
  bool clock_went_back = now < last_now_;
  last_now_ = now;
  if (leads_now && (!led_ || clock_went_back)) wake_everything(now);
  if (led_ != leads_now && ports_.observer != nullptr) ports_.observer->leads(leads_now);
  led_ = leads_now;
  sweep_tombstones(now);
  if (std::optional<Turn> turn = settle_flight(now)) return turn;
  if (!led_ || !may_begin()) return std::nullopt;
  return run_key(now);
}

std::optional<Turn> Operator::run_lease(Time now) {
  if (!lease_) return std::nullopt;
  if (lease_asked_) {
    std::optional<LeaseAnswer> answer;
    {
      std::lock_guard lock(mutex_);
      answer.swap(lease_answer_);
    }
    if (!answer) return std::nullopt;
    lease_answered(*answer);
    return Turn{};
  }
  Duration sent = ports_.uptime();
  std::optional<kube::Request> request = lease_->ask(sent, now);
  if (!request) return std::nullopt;
  client::Client& client = ports_.lease_client != nullptr ? *ports_.lease_client : ports_.client;
  if (ports_.workers == nullptr) {
    bool writes = client::is_write(*request);
    LeaseAnswer answer{client.send(std::move(*request)), sent, writes};
    lease_answered(answer);
    return Turn{};
  }
  lease_asked_ = true;
  ports_.workers->run_urgent([this, &client, sent, request = std::move(*request)]() mutable {
    bool writes = client::is_write(request);
    Result<client::Reply> reply = client.send(std::move(request));
    std::lock_guard lock(mutex_);
    lease_answer_ = LeaseAnswer{std::move(reply), sent, writes};
    if (wake_) wake_();
  });
  return Turn{};
}

void Operator::lease_answered(const LeaseAnswer& answer) {
  lease_asked_ = false;
  lease_->answer(answer.reply, answer.sent, ports_.uptime());
  lead_.renewed(lease_->renewed_at());
  note_lease(answer);
}

// A lease that is not there yet, or that another was faster to write, is no trouble.
void Operator::note_lease(const LeaseAnswer& answer) {
  if (ports_.observer == nullptr) return;
  std::optional<Error> trouble;
  if (!answer.reply.ok()) trouble = answer.reply.error();
  // Of a namespace that is not there only the write can tell.
  if (trouble && trouble->kind == ErrorKind::kNotFound && !answer.wrote) return;
  bool raced =
      trouble && (trouble->kind == ErrorKind::kConflict || trouble->kind == ErrorKind::kAlreadyExists);
  if (raced) trouble.reset();
  if (trouble == lease_trouble_) return;
  lease_trouble_ = trouble;
  ports_.observer->lease_trouble(trouble);
}

void Operator::hand_over(Time now) {
  if (!lease_) return;
  lead_.renewed(std::nullopt);
  std::optional<kube::Request> request = lease_->release(ports_.uptime(), now);
  if (!request) return;
  client::Client& client = ports_.lease_client != nullptr ? *ports_.lease_client : ports_.client;
  // Best effort: without it another takes over when the lease has run out.
  static_cast<void>(client.send(std::move(*request)));
}

// ---- passes ------------------------------------------------------------------------

// No pass before everything was listed, and no more at once than there are workers.
bool Operator::may_begin() const {
  if (!view_.synced()) return false;
  return ports_.workers == nullptr || in_flight_ < ports_.workers->threads();
}

std::optional<Turn> Operator::run_key(Time now) {
  std::optional<JobKey> key = queue_.take(now);
  if (!key) return std::nullopt;
  Turn turn;
  turn.key = key;
  turn.waited = holds_back(*key, now);
  if (turn.waited) {
    queue_.done(*key);
    return turn;
  }
  Flight flight;
  flight.begun = now;
  if (auto since = due_since_.find(*key); since != due_since_.end()) {
    flight.queued = std::max(Duration{0}, now - since->second);
    due_since_.erase(since);
  }
  // What it answers is made where it stays: it is large.
  flight.errand.reset(new Errand(reconciler_->begin(*key, now)));
  std::optional<Pass> pass = fly(std::move(flight));
  turn.begun = !pass.has_value();
  if (pass) turn.pass = std::move(*pass);
  return turn;
}

// Carries a pass out, here and now, or with the workers: then its outcome comes later.
std::optional<Pass> Operator::fly(Flight flight) {
  bool nothing_to_do = std::holds_alternative<Errand::Nothing>(flight.errand->what);
  if (ports_.workers != nullptr && !nothing_to_do) {
    ++in_flight_;
    // A function must be copyable; a flight is not.
    ports_.workers->run([this, shared = std::make_shared<Flight>(std::move(flight))] {
      reconciler_->carry_out(*shared->errand);
      std::lock_guard lock(mutex_);
      landed_.push_back(std::move(*shared));
      if (wake_) wake_();
    });
    return std::nullopt;
  }
  reconciler_->carry_out(*flight.errand);
  Time begun = flight.begun;
  return land(std::move(flight), begun);
}

std::optional<Turn> Operator::settle_flight(Time now) {
  if (in_flight_ == 0) return std::nullopt;
  Flight flight;
  {
    std::lock_guard lock(mutex_);
    if (landed_.empty()) return std::nullopt;
    flight = std::move(landed_.front());
    landed_.erase(landed_.begin());
  }
  --in_flight_;
  Turn turn;
  turn.key = flight.errand->key;
  std::optional<Pass> pass = land(std::move(flight), now);
  turn.begun = !pass.has_value();
  if (pass) turn.pass = std::move(*pass);
  return turn;
}

// What a pass brought home is taken over; nullopt when it had to set out once more.
std::optional<Pass> Operator::land(Flight flight, Time now) {
  JobKey key = flight.errand->key;
  std::optional<Pass> pass = reconciler_->settle(*flight.errand);
  if (!pass) {
    *flight.errand = reconciler_->begin(key, now);
    return fly(std::move(flight));
  }
  settle(key, *pass, now);
  queue_.done(key);
  if (ports_.observer != nullptr) {
    ports_.observer->passed(key, *pass, flight.queued, std::max(Duration{0}, ports_.clock() - flight.begun));
  }
  return pass;
}

bool Operator::holds_back(const JobKey& key, Time now) {
  auto cache_of = [this](int stream) -> const client::Cache& { return view_.caches[stream]; };
  std::function<void(const client::Expected&)> tell_lag;
  if (ports_.observer != nullptr) {
    tell_lag = [&](const client::Expected& seen) {
      ports_.observer->shown(std::max(Duration{0}, now - seen.since));
    };
  }
  if (!barrier_.blocks(key, cache_of, tell_lag)) return false;
  for (int stream : barrier_.take_overdue(key, now, cache_of)) watchers_[stream].relist(now);
  queue_.add(key, *barrier_.patience_ends(key));
  return true;
}

void Operator::settle(const JobKey& key, const Pass& pass, Time now) {
  ++counts_.passes;
  counts_.writes += pass.writes;
  counts_.transitions += pass.transition;
  if (pass.job_gone) {
    barrier_.drop(key);
    due_since_.erase(key);
    queue_.reset(key);
    return;
  }
  for (const client::Expected& expected : pass.expected) barrier_.expect(key, expected);
  // A wake that is already due would be a pass without a pause.
  if (pass.wake) queue_.add(key, std::max(*pass.wake, now + kBackOffFirst));
  if (!pass.error) return queue_.reset(key);
  ++counts_.errors;
  switch (retry_for(pass.error->kind)) {
    case Retry::kNow:
    case Retry::kBackOff:
    case Retry::kTell:
      // What a kNow waits for comes in as an event and wakes the key before that.
      return queue_.add(key, queue_.back_off(key, now));
  }
}

// Tombstones are released by the pass that records them. What no pass of ours will ever
// record goes by age: of jobs that are gone, and of all jobs while another leads.
void Operator::sweep_tombstones(Time now) {
  if (now < next_sweep_ && next_sweep_ - now <= kSweepEvery) return;
  next_sweep_ = now + kSweepEvery;
  for (const std::string& ns : view_.namespaces) {
    for (const DialectStreams& streams : view_.dialects) sweep(streams, ns, now);
  }
}

void Operator::sweep(const DialectStreams& streams, const std::string& ns, Time now) {
  client::Cache& pods = view_.cache(streams.pods, ns);
  if (!pods.has_remains()) return;
  std::set<std::string, std::less<>> jobs;
  if (led_) {
    for (const auto& [key, job] : view_.cache(streams.jobs, ns).all()) {
      jobs.emplace(kube::uid_of(*job.object()));
    }
  }
  pods.drop_vanished_unless([&](std::string_view owner) { return jobs.contains(owner); });
  pods.forget_if([&](std::string_view owner, const client::Tombstone& tombstone) {
    return !jobs.contains(owner) && tombstone.seen + kTombstoneAgeMax < now;
  });
}

std::optional<Time> Operator::next_wake() const {
  std::optional<Time> wake;
  for (const client::Watcher& watcher : watchers_) keep_earlier(wake, watcher.next_ask());
  if (lease_ && !lease_asked_) {
    keep_earlier(wake, ports_.clock() + (lease_->next_ask() - ports_.uptime()));
  }
  if (led_ && may_begin()) keep_earlier(wake, queue_.next());
  return wake;
}

}  // namespace trainyard::control
