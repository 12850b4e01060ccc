#include "sim/scheduler_process.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/in_process.h"
#include "kube/scheduling.h"

namespace trainyard::sim {
namespace {

constexpr int kStepsPerPump = 64;
// Long enough for what a script does to happen meanwhile.
constexpr Duration kAwayWhenStruck{10'000};
// Of two: long enough for the other to take over, or for all that one of them has seen to be old then.
constexpr int64_t kAwayMaxOfTwo = 30'000;
constexpr Duration kFrozenOfTwo{30'000};

control::SchedulerOptions scheduler_options(const Options& options) {
  control::SchedulerOptions out;
  out.policy.reclaim = false;  // what may be taken so is not for the checkers to say
  if (!options.reserves_room()) out.policy.reserve_after = std::chrono::hours(24);
  return out;
}

}  // namespace

SchedulerProcess::SchedulerProcess(int id, Ports ports, const Options& options,
                                   const Perturbation& perturbation)
    : id_(id),
      ports_(std::move(ports)),
      options_(options),
      perturbation_(perturbation),
      name_(fmt::format("scheduler-{}", id)),
      rng_(stream(options.seed, id == 0 ? Stream::kScheduler : Stream::kSecondScheduler)),
      elected_(options.faults.has(Fault::kRivalScheduler)) {}

bool SchedulerProcess::strikes(Fault fault) {
  return trouble_ && options_.faults.has(fault) && rng_.chance(options_.fault_percent);
}

void SchedulerProcess::boot() {
  if (trouble_ && options_.faults.has(Fault::kClockStep) && rng_.chance(50)) {
    skew_ = Duration{rng_.between(-kWrongBy.count(), kWrongBy.count())};
    ports_.trace.say(ports_.cluster.now(), name_,
                     fmt::format("has a clock that is {} ms off", skew_.count()));
  }
  control::SchedulerOptions options = scheduler_options(options_);
  options.elects_leader = elected_;
  options.identity = name_;
  options.lease_ns = "default";
  scheduler_ = std::make_unique<control::Scheduler>(
      control::SchedulerPorts{.client = *this,
                              .clock = [this] { return own_now(); },
                              .uptime = [this] { return ports_.cluster.now() - Time{}; }},
      options);
  seen_.clear();
  frozen_until_.clear();
  ports_.trace.say(ports_.cluster.now(), name_, "boots");
  plan_pump(ports_.cluster.now());
}

void SchedulerProcess::retire() {
  scheduler_.reset();
  pump_at_.reset();
  ports_.trace.say(ports_.cluster.now(), name_, "retires");
}

void SchedulerProcess::stay_alone() {
  elected_ = false;
  pump_at_.reset();
  boot();
}

void SchedulerProcess::settle() {
  trouble_ = false;
  skew_ = Duration{0};
  frozen_until_.clear();
  if (scheduler_ != nullptr) plan_pump(ports_.cluster.now());
}

void SchedulerProcess::freeze_pods(Duration time) {
  if (scheduler_ == nullptr) return;  // it will list anew
  for (const auto& [stream, version] : seen_) {
    const kube::Resource& resource = scheduler_->streams()[static_cast<size_t>(stream)].resource;
    if (same_type(resource, kube::kPods)) frozen_until_[stream] = ports_.cluster.now() + time;
  }
}

void SchedulerProcess::on_change(const Change& change) {
  if (scheduler_ == nullptr || inside_ || change.resource == &kube::kEvents) return;
  const auto& streams = scheduler_->streams();
  const bool watched = std::any_of(streams.begin(), streams.end(), [&](const client::Stream& stream) {
    return same_type(stream.resource, *change.resource);
  });
  if (!watched) return;
  Duration latency{2};
  if (strikes(Fault::kWatchDelay)) latency = Duration{rng_.between(10, 5'000)};
  plan_pump(ports_.cluster.now() + latency);
}

void SchedulerProcess::plan_pump(Time at) {
  if (pump_at_ && *pump_at_ <= at) return;
  pump_at_ = at;
  ports_.cluster.agenda().at(at, [this, at] {
    if (pump_at_ != at) return;
    pump_at_.reset();
    pump();
  });
}

void SchedulerProcess::deliver(int stream, int64_t& version) {
  const kube::Resource& resource = scheduler_->streams()[static_cast<size_t>(stream)].resource;
  const int64_t newest = ports_.cluster.store().revision();
  if (version == newest) return;
  const Time now = own_now();
  auto events = ports_.cluster.store().events_since(resource, version);
  const bool gone = !events.ok() || strikes(Fault::kWatchGone);
  if (gone || strikes(Fault::kWatchDrop)) {
    seen_.erase(stream);
    std::optional<Error> why;
    if (gone) why = Error{ErrorKind::kGone, "simulated: too old"};
    return scheduler_->on_closed(stream, why, now);
  }
  for (const store::WatchEvent& event : *events) {
    scheduler_->on_event(stream, client::to_watch_event(event), now);
    if (strikes(Fault::kWatchDuplicate)) scheduler_->on_event(stream, client::to_watch_event(event), now);
  }
  version = newest;
}

void SchedulerProcess::carry() {
  const Time now = ports_.cluster.now();
  for (const control::StreamRequest& wanted : scheduler_->requests(own_now())) {
    if (const auto* watch = std::get_if<kube::Watch>(&wanted.request.verb)) {
      seen_[wanted.stream] = std::stoll(watch->version);
      frozen_until_.erase(wanted.stream);
    } else {
      seen_.erase(wanted.stream);  // a list takes the place of the watch
      scheduler_->on_list(wanted.stream, send(wanted.request), own_now());
    }
  }
  std::vector<int> open;
  open.reserve(seen_.size());
  for (const auto& [stream, version] : seen_) open.push_back(stream);
  for (int stream : open) {
    // Streams are not in step with one another, and one may fall far behind.
    auto frozen = frozen_until_.find(stream);
    if (frozen != frozen_until_.end() && frozen->second > now) continue;
    if (strikes(Fault::kWatchFreeze)) {
      if (elected_) frozen_until_[stream] = now + kFrozenOfTwo;
      continue;
    }
    deliver(stream, seen_.at(stream));
  }
}

void SchedulerProcess::work() {
  carry();
  int64_t seen = ports_.cluster.store().revision();
  for (size_t i = 0; i < scheduler_->streams().size(); ++i) {
    auto found = seen_.find(static_cast<int>(i));
    // What is not being watched was listed a moment ago, or a while.
    seen = std::min(seen, found == seen_.end() ? int64_t{0} : found->second);
  }
  clean_ = true;
  const int64_t passes = scheduler_->counts().passes;
  ports_.checks.pass_begins(id_, seen);
  for (int turn = 0; turn < kStepsPerPump && scheduler_->step(own_now()); ++turn) {
  }
  // Who lost the lead on the way stops where it is.
  ports_.checks.pass_ends(id_, clean_ && scheduler_->leads(), scheduler_->counts().passes > passes);
}

void SchedulerProcess::pump() {
  // One that is stopped in the middle of a call looks around when it has ended.
  if (scheduler_ == nullptr || inside_) return;
  inside_ = true;
  try {
    work();
  } catch (const Died&) {
    inside_ = false;
    return die();
  }
  inside_ = false;
  const Time now = ports_.cluster.now();
  if (const std::optional<Time> next = scheduler_->next_wake()) {
    plan_pump(std::max(*next - skew_, now + Duration{1}));
  }
  // What it did itself is told to it, and so is what a stream held back.
  const int64_t newest = ports_.cluster.store().revision();
  const bool behind =
      std::any_of(seen_.begin(), seen_.end(), [&](const auto& stream) { return stream.second != newest; });
  const bool freezes = trouble_ && (options_.faults.has(Fault::kWatchFreeze) || !frozen_until_.empty());
  if (behind) plan_pump(now + Duration{freezes ? 3'000 : 2});
}

void SchedulerProcess::die() {
  ++deaths_;
  scheduler_.reset();
  pump_at_.reset();
  ports_.trace.say(ports_.cluster.now(), name_, "crashes at a write");
  const bool on_purpose = perturbation_.blow != Blow::kNone;
  const Duration down =
      on_purpose ? kAwayWhenStruck : Duration{rng_.between(100, elected_ ? kAwayMaxOfTwo : 10'000)};
  ports_.checks.scheduler_away_until(ports_.cluster.now() + down);
  ports_.cluster.agenda().in(down, [this] { boot(); });
}

// It has looked whether it leads, and goes on when it may no longer.
void SchedulerProcess::maybe_wait() {
  if (!elected_) return;
  if (strikes(Fault::kPause) && rng_.chance(20)) {
    ports_.trace.say(ports_.cluster.now(), name_, "is stopped for a while");
    ports_.let_world_go_on(ports_.cluster.now() + Duration{rng_.between(5'000, 60'000)});
  } else if (strikes(Fault::kApiSlow)) {
    ports_.let_world_go_on(ports_.cluster.now() + Duration{rng_.between(50, 10'000)});
  }
}

std::optional<Error> SchedulerProcess::trouble_of_lease() {
  maybe_wait();
  if (strikes(Fault::kApiTooMany)) return Error{ErrorKind::kUnavailable, "simulated: 429"};
  if (strikes(Fault::kApiServerError)) return Error{ErrorKind::kUnavailable, "simulated: 500"};
  if (strikes(Fault::kApiLost)) return Error{ErrorKind::kUnknown, "simulated: timeout"};
  return std::nullopt;
}

std::optional<Error> SchedulerProcess::trouble_before(const kube::Request& request) {
  if (auto error = strike_before(blow_now(), request)) return error;
  maybe_wait();
  if (strikes(Fault::kCrash)) throw Died{};
  if (strikes(Fault::kApiTooMany)) return Error{ErrorKind::kUnavailable, "simulated: 429"};
  if (strikes(Fault::kApiServerError)) return Error{ErrorKind::kUnavailable, "simulated: 500"};
  if (strikes(Fault::kApiLost)) return Error{ErrorKind::kUnknown, "simulated: timeout"};
  if (strikes(Fault::kApiConflict)) return Error{ErrorKind::kConflict, "simulated: conflict"};
  return std::nullopt;
}

std::optional<Error> SchedulerProcess::trouble_after() {
  if (auto error = strike_after(blow_now())) return error;
  if (strikes(Fault::kCrash)) throw Died{};
  if (strikes(Fault::kApiLostApplied)) return Error{ErrorKind::kUnknown, "simulated: timeout"};
  return std::nullopt;
}

Result<client::Reply> SchedulerProcess::send(kube::Request request) {
  const bool lease = request.resource == kube::kLeases;
  const bool event = request.resource == kube::kEvents;
  const bool write = client::is_write(request);
  const bool counts = write && !event && !lease;
  std::optional<Error> trouble;
  if (counts) {
    ++writes_;
    if (elected_) ports_.checks.asks(id_, request);
    trouble = trouble_before(request);
  } else if (lease) {
    trouble = trouble_of_lease();
  }
  if (trouble) {
    clean_ = false;
    return *trouble;
  }
  const auto* removal = std::get_if<kube::Delete>(&request.verb);
  if (removal != nullptr && request.resource == kube::kPods) {
    ++evicted_;
    ports_.checks.evicts(id_, removal->options.uid);
  }
  const kube::Resource changed = request.resource == kube::kBindings ? kube::kPods : request.resource;
  const std::string deed = counts && ports_.trace.on() ? to_string(request) : "";
  Result<client::Reply> reply =
      client::carry_out(ports_.cluster.store(), std::move(request), ports_.cluster.now());
  if (!reply.ok()) clean_ = false;
  if (!deed.empty()) {
    ports_.trace.say(ports_.cluster.now(), name_,
                     fmt::format("{}{}", deed, reply.ok() ? "" : " refused: " + reply.error().message));
  }
  if (write) ports_.cluster.tell({Hand::kScheduler, id_}, changed);
  if (counts) trouble = trouble_after();
  if (trouble) {
    clean_ = false;
    return *trouble;
  }
  return reply;
}

}  // namespace trainyard::sim
