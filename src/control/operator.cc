#include "control/operator.h"

#include "kube/access.h"

namespace trainyard::control {

using client::Changed;
using client::Object;

namespace {

constexpr Duration kTombstoneAgeMax{600'000};
constexpr Duration kSweepEvery{60'000};

void keep_earlier(std::optional<Time>& earliest, std::optional<Time> other) {
  if (other && (!earliest || *other < *earliest)) earliest = other;
}

}  // namespace

// Fence: lets writes through only while we lead.
class Operator::Fence final : public client::Client {
 public:
  explicit Fence(const Operator& owner) : owner_(owner) {}

  Result<client::Reply> send(const kube::Request& request) override {
    if (client::is_write(request) && !owner_.leads(owner_.ports_.clock())) {
      return Error{ErrorKind::kUnavailable, "the lease is lost or about to be: nothing is written"};
    }
    return owner_.ports_.client.send(request);
  }

 private:
  const Operator& owner_;
};

Operator::Operator(OperatorPorts ports, std::vector<dialect::Dialect> dialects, OperatorOptions options)
    : ports_(std::move(ports)),
      dialects_(std::move(dialects)),
      options_(std::move(options)),
      fence_(std::make_unique<Fence>(*this)),
      view_(make_view(dialects_, options_.around)) {
  for (const client::Stream& stream : view_.streams) watchers_.emplace_back(stream);
  if (options_.elects_leader) lease_.emplace(options_.lease_ns, options_.lease_name, options_.identity);
  led_ = !options_.elects_leader;
  reconciler_ = std::make_unique<Reconciler>(*fence_, view_, dialects_, options_.settings, ports_.make_keys);
}

Operator::~Operator() = default;

bool Operator::leads(Time now) const { return !lease_ || lease_->leads(now); }

// ---- streams in ----------------------------------------------------------------

std::vector<StreamRequest> Operator::requests(Time now) {
  std::vector<StreamRequest> wanted;
  for (size_t i = 0; i < watchers_.size(); ++i) {
    if (std::optional<kube::Request> request = watchers_[i].ask(now)) {
      wanted.push_back({static_cast<int>(i), std::move(*request)});
    }
  }
  return wanted;
}

void Operator::on_list(int stream, const Result<client::Reply>& reply, Time now) {
  take_in(stream, watchers_[stream].on_list(reply, now), now);
}

void Operator::on_event(int stream, const client::WatchEvent& event, Time now) {
  take_in(stream, watchers_[stream].on_event(event, now), now);
}

void Operator::on_closed(int stream, const std::optional<Error>& error, Time now) {
  watchers_[stream].on_closed(error, now);
}

void Operator::take_in(int stream, const std::vector<client::Output>& outputs, Time now) {
  for (const client::Output& output : outputs) {
    for (const Changed& changed : view_.caches[stream].apply(output, now)) {
      for (const Object& object : {changed.before, changed.after}) {
        if (object != nullptr) wake_jobs_of(stream, *object, now);
      }
    }
  }
}

void Operator::wake(int dialect, std::string_view ns, std::string_view name, Time now) {
  if (name.empty()) return;
  if (view_.caches[view_.dialects[dialect].jobs].find(ns, name) == nullptr) return;
  queue_.add({dialect, std::string(ns), std::string(name)}, now);
}

// The jobs whose plan may depend on this object.
void Operator::wake_jobs_of(int stream, const json::object& object, Time now) {
  std::string_view ns = kube::namespace_of(object);
  for (size_t i = 0; i < dialects_.size(); ++i) {
    int dialect = static_cast<int>(i);
    const DialectStreams& streams = view_.dialects[i];
    if (stream == streams.jobs) return wake(dialect, ns, kube::name_of(object), now);
    if (stream == streams.pods || stream == streams.services) {
      wake(dialect, ns, dialects_[i].job_name_of(object), now);
      wake_owner(object, now);
      return;
    }
  }
  if (stream == view_.commands) {
    for (size_t i = 0; i < dialects_.size(); ++i) {
      if (dialects_[i].see_command == nullptr) continue;
      std::optional<dialect::CommandFor> command = dialects_[i].see_command(object);
      if (command) wake(static_cast<int>(i), ns, command->job, now);
    }
    return;
  }
  if (!kube::controller_uid_of(object).empty()) return wake_owner(object, now);
  // Somebody's own claim or gang: any job beside it may have been waiting for it.
  for (size_t i = 0; i < dialects_.size(); ++i) {
    const auto& jobs = view_.caches[view_.dialects[i].jobs].all();
    for (auto it = jobs.lower_bound({std::string(ns), ""}); it != jobs.end() && it->first.ns == ns; ++it) {
      queue_.add({static_cast<int>(i), it->first.ns, it->first.name}, now);
    }
  }
}

void Operator::wake_owner(const json::object& object, Time now) {
  const json::array* owners = kube::array_at(object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return;
  for (const json::value& entry : *owners) {
    const json::object* owner = entry.if_object();
    if (owner == nullptr) continue;
    for (size_t i = 0; i < dialects_.size(); ++i) {
      if (!dialects_[i].recognises(kube::text_at(*owner, {"apiVersion"}), kube::text_at(*owner, {"kind"})))
        continue;
      wake(static_cast<int>(i), kube::namespace_of(object), kube::text_at(*owner, {"name"}), now);
    }
  }
}

void Operator::wake_everything(Time now) {
  for (size_t i = 0; i < dialects_.size(); ++i) {
    for (const auto& [key, job] : view_.caches[view_.dialects[i].jobs].all()) {
      queue_.add({static_cast<int>(i), key.ns, key.name}, now);
    }
  }
}

// ---- one thing at a time ---------------------------------------------------------

std::optional<Turn> Operator::run_one(Time now) {
  if (std::optional<Turn> turn = run_lease(now)) return turn;
  bool leads_now = leads(now);
  // After a step back of the clock everything would be looked at too late.
  bool clock_went_back = now < last_now_;
  last_now_ = now;
  if ((leads_now && !led_) || clock_went_back) wake_everything(now);
  led_ = leads_now;
  sweep_tombstones(now);
  if (!led_ || !view_.synced()) return std::nullopt;
  return run_key(now);
}

std::optional<Turn> Operator::run_lease(Time now) {
  if (!lease_) return std::nullopt;
  std::optional<kube::Request> request = lease_->ask(now);
  if (!request) return std::nullopt;
  lease_->answer(ports_.client.send(*request), now, ports_.clock());
  return Turn{};
}

std::optional<Turn> Operator::run_key(Time now) {
  std::optional<JobKey> key = queue_.take(now);
  if (!key) return std::nullopt;
  Turn turn;
  turn.key = key;
  turn.waited = holds_back(*key, now);
  if (!turn.waited) {
    turn.pass = reconciler_->run(*key, now);
    settle(*key, turn.pass, now);
  }
  queue_.done(*key);
  return turn;
}

bool Operator::holds_back(const JobKey& key, Time now) {
  auto cache_of = [this](int stream) -> const client::Cache& { return view_.caches[stream]; };
  if (!barrier_.blocks(key, cache_of)) return false;
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
    queue_.reset(key);
    return;
  }
  for (const client::Expected& expected : pass.expected) barrier_.expect(key, expected);
  // A wake that is already due would be a pass without a pause.
  if (pass.wake) queue_.add(key, std::max(*pass.wake, now + kBackOffFirst));
  if (!pass.error) return queue_.reset(key);
  ++counts_.errors;
  switch (retry_for(pass.error->kind)) {
    case Retry::kNever:
      return;
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
  for (const DialectStreams& streams : view_.dialects) {
    client::Cache& pods = view_.caches[streams.pods];
    std::set<std::string_view> jobs;
    if (led_) {
      for (const auto& [key, job] : view_.caches[streams.jobs].all()) jobs.insert(kube::uid_of(*job));
    }
    for (int stream : {streams.pods, streams.services}) {
      view_.caches[stream].drop_vanished_unless([&](std::string_view owner) { return jobs.contains(owner); });
    }
    pods.forget_if([&](std::string_view owner, const client::Tombstone& tombstone) {
      return !jobs.contains(owner) && tombstone.seen + kTombstoneAgeMax < now;
    });
  }
}

std::optional<Time> Operator::next_wake() const {
  std::optional<Time> wake;
  for (const client::Watcher& watcher : watchers_) keep_earlier(wake, watcher.next_ask());
  if (lease_) keep_earlier(wake, lease_->next_ask());
  if (led_ && view_.synced()) keep_earlier(wake, queue_.next());
  return wake;
}

}  // namespace trainyard::control
