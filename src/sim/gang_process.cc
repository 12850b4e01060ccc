#include "sim/gang_process.h"

#include "client/in_process.h"
#include "kube/meta.h"

namespace trainyard::sim {

GangProcess::GangProcess(Ports ports, Rng rng, control::SchedulerOptions options)
    : ports_(std::move(ports)), options_(std::move(options)), rng_(rng) {}

void GangProcess::boot() {
  scheduler_ = std::make_unique<control::Scheduler>(
      control::SchedulerPorts{*this, [this] { return ports_.agenda.now(); }}, options_);
  from_.clear();
  plan_pump(ports_.agenda.now());
}

void GangProcess::on_change() {
  if (scheduler_ == nullptr || inside_) return;
  plan_pump(ports_.agenda.now() + Duration{trouble_ ? rng_.between(5, 2'000) : 20});
}

void GangProcess::plan_pump(Time at) {
  if (pump_at_ && *pump_at_ <= at) return;
  pump_at_ = at;
  ports_.agenda.at(at, [this, at] {
    if (pump_at_ != at) return;
    pump_at_.reset();
    pump();
  });
}

void GangProcess::carry() {
  Time now = ports_.agenda.now();
  for (const control::StreamRequest& wanted : scheduler_->requests(now)) {
    if (const auto* watch = std::get_if<kube::Watch>(&wanted.request.verb)) {
      from_[wanted.stream] = std::stoll(watch->version);
    } else {
      scheduler_->on_list(wanted.stream, send(wanted.request), now);
    }
  }
  for (auto& [stream, version] : from_) {
    // Streams are not in step with one another, and one may fall far behind.
    if (trouble_ && rng_.chance(20)) continue;
    const client::Stream& what = scheduler_->streams()[static_cast<size_t>(stream)];
    std::vector<store::WatchEvent> events = ports_.store.events_since(what.resource, version).value();
    for (const store::WatchEvent& event : events) {
      version = event.revision;
      scheduler_->on_event(stream, client::to_watch_event(event), now);
    }
  }
}

void GangProcess::pump() {
  if (scheduler_ == nullptr) return;
  inside_ = true;
  try {
    carry();
    for (int turn = 0; turn < 64 && scheduler_->step(ports_.agenda.now()); ++turn) {
    }
  } catch (const Died&) {
    inside_ = false;
    return die();
  }
  inside_ = false;
  std::optional<Time> next = scheduler_->next_wake();
  if (next) plan_pump(std::max(*next, ports_.agenda.now() + Duration{1}));
  // What a stream held back is told later.
  if (trouble_) plan_pump(ports_.agenda.now() + Duration{rng_.between(500, 5'000)});
}

void GangProcess::die() {
  ++deaths_;
  scheduler_.reset();
  pump_at_.reset();
  ports_.died();
  ports_.agenda.in(Duration{rng_.between(100, 10'000)}, [this] { boot(); });
}

std::optional<Error> GangProcess::trouble_before() {
  if (!trouble_) return std::nullopt;
  if (rng_.chance(2)) throw Died{};
  if (rng_.chance(3)) return Error{ErrorKind::kUnavailable, "nobody there"};
  if (rng_.chance(3)) return Error{ErrorKind::kUnknown, "no answer"};
  if (rng_.chance(3)) return Error{ErrorKind::kConflict, "somebody was faster"};
  return std::nullopt;
}

std::optional<Error> GangProcess::trouble_after() {
  if (!trouble_) return std::nullopt;
  if (rng_.chance(2)) throw Died{};
  if (rng_.chance(4)) return Error{ErrorKind::kUnknown, "done, but no answer"};
  return std::nullopt;
}

Result<client::Reply> GangProcess::send(const kube::Request& request) {
  bool write = client::is_write(request);
  bool matters = write && request.resource != kube::kEvents;
  if (matters || (trouble_ && rng_.chance(2))) {
    if (std::optional<Error> error = trouble_before()) return *error;
  }
  std::string evicted;
  if (const auto* remove = std::get_if<kube::Delete>(&request.verb); remove != nullptr) {
    if (request.resource == kube::kPods) evicted = remove->options.uid;
  }
  if (!evicted.empty()) ports_.wrote(evicted);
  Result<client::Reply> reply = client::carry_out(ports_.store, request, ports_.agenda.now());
  if (!matters) return reply;
  ++writes_;
  ports_.wrote("");
  if (std::optional<Error> error = trouble_after()) return *error;
  return reply;
}

}  // namespace trainyard::sim
