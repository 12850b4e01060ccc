#include "sim/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/match.h"
#include "client/in_process.h"
#include "kube/access.h"

namespace trainyard::sim {

namespace {

constexpr Duration kTurn{2};
constexpr Duration kFrozen{45'000};

int64_t revision_in(std::string_view text) {
  int64_t revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return revision;
}

}  // namespace

Process::Process(int id, Ports ports, const Options& options, std::vector<dialect::Dialect> dialects,
                 std::vector<kube::Resource> around, Perturbation perturbation)
    : id_(id),
      ports_(std::move(ports)),
      options_(options),
      dialects_(std::move(dialects)),
      around_(std::move(around)),
      perturbation_(perturbation),
      rivals_(options.faults.has(Fault::kRival)),
      name_(fmt::format("operator-{}", id)),
      network_rng_(stream(options.seed * 2 + static_cast<uint64_t>(id), Stream::kNetwork)),
      api_rng_(stream(options.seed * 2 + static_cast<uint64_t>(id), Stream::kApi)),
      process_rng_(stream(options.seed * 2 + static_cast<uint64_t>(id), Stream::kProcess)) {}

Process::~Process() = default;

bool Process::strikes(Fault fault, Rng& rng) {
  return trouble_ && options_.faults.has(fault) && rng.chance(options_.fault_percent);
}

int64_t Process::passes() const { return operator_ ? operator_->counts().passes : 0; }

std::optional<Time> Process::next_wake() const {
  if (!operator_) return std::nullopt;
  const std::optional<Time> wake = operator_->next_wake();
  if (!wake) return std::nullopt;
  return *wake - skew_;
}

// Whatever reaches the process waits while it is inside a call, and is lost when the
// process it was meant for is no more.
template <typename Deed>
void Process::later(Duration after, Deed deed) {
  const int boot = boots_;
  ports_.cluster.agenda().in(after, [this, boot, deed = std::move(deed)] {
    if (boot != boots_ || !operator_) return;
    if (busy_) {
      deferred_.push_back([this, boot, deed] {
        if (boot == boots_ && operator_) deed();
      });
      return;
    }
    deed();
  });
}

// Real keys cost milliseconds and are not what is tested here; but no two are the same.
dialect::KeyPair Process::fake_keys() {
  ++keys_;
  return {fmt::format("private {}-{}", id_, keys_), fmt::format("ssh-rsa public {}-{}", id_, keys_)};
}

void Process::boot() {
  ++boots_;
  control::OperatorOptions options;
  options.around = around_;
  options.at_rest = options_.keeps_text() ? client::Form::kText : client::Form::kDocument;
  options.elects_leader = rivals_;
  options.identity = name_;
  options.lease_ns = "default";
  operator_ = std::make_unique<control::Operator>(
      control::OperatorPorts{.client = *this,
                             .make_keys = [this] { return fake_keys(); },
                             .clock = [this] { return own_now(); },
                             .uptime = [this] { return ports_.cluster.now() - Time{}; }},
      dialects_, options);
  lines_.assign(operator_->streams().size(), Line{});
  ports_.checkers.boots(id_);
  ports_.trace.say(ports_.cluster.now(), name_, "boots");
  pump_at_.reset();
  plan_pump(ports_.cluster.now());
}

void Process::crash(std::string_view why) {
  ports_.trace.say(ports_.cluster.now(), name_, fmt::format("crashes ({})", why));
  operator_.reset();
  deferred_.clear();
  ++boots_;
  const int boot = boots_;
  const Duration down{trouble_ && perturbation_.blow == Blow::kNone ? process_rng_.between(100, 20'000)
                                                                    : 1'000};
  ports_.cluster.agenda().in(down, [this, boot] {
    if (boot == boots_ && !operator_) this->boot();
  });
}

void Process::settle() {
  trouble_ = false;
  skew_ = Duration{0};
  if (busy_) return;
  if (!operator_) {
    ++boots_;
    boot();
    return;
  }
  for (size_t i = 0; i < lines_.size(); ++i) {
    if (lines_[i].open) {
      lines_[i].poll_planned = false;
      plan_poll(static_cast<int>(i), Duration{5});
    }
  }
  pump_at_.reset();
  plan_pump(ports_.cluster.now());
}

void Process::plan_pump(Time at) {
  if (pump_at_ && *pump_at_ <= at && *pump_at_ >= ports_.cluster.now()) return;
  const Time when = std::max(at, ports_.cluster.now());
  pump_at_ = when;
  later(when - ports_.cluster.now(), [this, when] {
    if (pump_at_ != when) return;
    pump_at_.reset();
    pump();
  });
}

void Process::pump() {
  maybe_trouble();
  if (!operator_) return;
  ask_streams();
  begin_pass();
  std::optional<control::Turn> turn;
  busy_ = true;
  try {
    turn = operator_->run_one(own_now());
  } catch (const Died&) {
    busy_ = false;
    crash("at a write");
    return;
  }
  busy_ = false;
  ask_streams();
  if (turn) {
    plan_pump(ports_.cluster.now() + kTurn);
  } else if (const std::optional<Time> wake = next_wake()) {
    plan_pump(*wake);
  }
  std::vector<std::function<void()>> waiting;
  waiting.swap(deferred_);
  for (const auto& deed : waiting) deed();
}

// Between two passes: a crash, or a clock that is set wrong.
void Process::maybe_trouble() {
  if (!trouble_ || perturbation_.blow != Blow::kNone) return;
  if (options_.faults.has(Fault::kCrash) && process_rng_.below(1000) < options_.fault_percent) {
    crash("between passes");
    return;
  }
  if (options_.faults.has(Fault::kClockStep) && process_rng_.below(1000) < options_.fault_percent) {
    const int64_t most = (rivals_ ? kWrongByRivals : kWrongBy).count();
    skew_ = Duration{process_rng_.between(-most, most)};
    ports_.trace.say(ports_.cluster.now(), name_,
                     fmt::format("its clock is wrong by {} s", skew_.count() / 1000));
  }
}

void Process::begin_pass() {
  Sight sight;
  sight.revision = sight.pods_seen = ports_.cluster.store().revision();
  for (size_t i = 0; i < lines_.size(); ++i) {
    if (!same_type(operator_->streams()[i].resource, kube::kPods)) continue;
    sight.pods_seen = std::min(sight.pods_seen, lines_[i].version);
    sight.pods_listed = std::max(sight.pods_listed, lines_[i].listed);
  }
  ports_.checkers.pass_begins(id_, sight);
}

// ---- the watch network ----------------------------------------------------------

void Process::ask_streams() {
  for (control::StreamRequest& wanted : operator_->requests(own_now())) {
    const int i = wanted.stream;
    note_taken(lines_[i], wanted.request);
    const int ask = ++lines_[i].asks;
    const Duration latency{strikes(Fault::kWatchDelay, network_rng_) ? network_rng_.between(10, 8'000) : 3};
    if (std::holds_alternative<kube::List>(wanted.request.verb)) {
      lines_[i].open = false;  // a list takes the place of the watch
      later(latency, [this, i, request = std::move(wanted.request)] { answer_list(i, request); });
    } else {
      later(latency, [this, i, ask, request = std::move(wanted.request)] {
        if (ask == lines_[i].asks) open_watch(i, request);
      });
    }
  }
}

// Whether a list was taken shows in what is asked for next: a watch from where it ended, or, when a fresh
// one was wanted meanwhile, another list.
void Process::note_taken(Line& line, const kube::Request& next) {
  const auto* watch = std::get_if<kube::Watch>(&next.verb);
  const bool taken = watch != nullptr && line.answered != 0 && revision_in(watch->version) == line.answered;
  if (taken) line.listed = line.version = line.answered;
  line.answered = 0;
}

void Process::answer_list(int stream, const kube::Request& request) {
  Line& line = lines_[stream];
  if (strikes(Fault::kApiServerError, network_rng_)) {
    operator_->on_list(stream, Error{ErrorKind::kUnavailable, "simulated: list refused"}, own_now());
  } else {
    Result<client::Reply> reply =
        client::carry_out(ports_.cluster.store(), kube::Request(request), ports_.cluster.now());
    if (reply.ok()) line.answered = reply.value().revision;
    operator_->on_list(stream, reply, own_now());
  }
  plan_pump(ports_.cluster.now());
}

void Process::open_watch(int stream, const kube::Request& request) {
  const auto& watch = std::get<kube::Watch>(request.verb);
  Line& line = lines_[stream];
  line.version = revision_in(watch.version);
  line.labels = watch.labels;
  line.ns = request.ns;
  if (strikes(Fault::kWatchGone, network_rng_)) {
    close(stream, Error{ErrorKind::kGone, "simulated: too old"}, "410");
    return;
  }
  if (strikes(Fault::kWatchTimeTravel, network_rng_)) {
    // Old events come again; what has been seen must not be undone by them.
    const int64_t back = network_rng_.between(1, 20);
    line.version = std::max({int64_t{1}, ports_.cluster.store().compacted(), line.version - back});
  }
  line.open = true;
  line.poll_planned = false;
  plan_poll(stream, Duration{1});
}

void Process::on_change(const Change& change) {
  if (!operator_) return;
  for (size_t i = 0; i < lines_.size(); ++i) {
    if (!lines_[i].open || lines_[i].poll_planned) continue;
    if (!same_type(operator_->streams()[i].resource, *change.resource)) continue;
    Duration latency{2};
    if (strikes(Fault::kWatchDelay, network_rng_)) latency = Duration{network_rng_.between(10, 5'000)};
    if (strikes(Fault::kWatchFreeze, network_rng_)) latency = kFrozen;
    plan_poll(static_cast<int>(i), latency);
  }
}

void Process::plan_poll(int stream, Duration after) {
  Line& line = lines_[stream];
  if (line.poll_planned) return;
  line.poll_planned = true;
  later(after, [this, stream] { poll(stream); });
}

void Process::close(int stream, const std::optional<Error>& error, std::string_view why) {
  lines_[stream].open = false;
  lines_[stream].poll_planned = false;
  if (ports_.trace.on()) {
    ports_.trace.say(
        ports_.cluster.now(), name_,
        fmt::format("loses its watch of {} ({})", operator_->streams()[stream].resource.plural, why));
  }
  operator_->on_closed(stream, error, own_now());
  plan_pump(ports_.cluster.now());
}

void Process::poll(int stream) {
  Line& line = lines_[stream];
  line.poll_planned = false;
  if (!line.open) return;
  if (strikes(Fault::kWatchDrop, network_rng_)) {
    std::optional<Error> error;
    if (network_rng_.chance(50)) error = Error{ErrorKind::kUnavailable, "simulated: connection lost"};
    close(stream, error, "dropped");
    return;
  }
  kube::Watch query;
  query.labels = line.labels;
  query.version = std::to_string(line.version);
  auto events = ports_.cluster.store().watch(operator_->streams()[stream].resource, line.ns, query);
  if (!events.ok()) {
    close(stream, events.error(), "compacted");
    return;
  }
  const int64_t newest = ports_.cluster.store().revision();
  size_t told = events.value().size();
  if (told > 1 && strikes(Fault::kWatchDelay, network_rng_)) told = network_rng_.below(told);
  for (size_t i = 0; i < told; ++i) {
    const store::WatchEvent& event = events.value()[i];
    deliver(stream, event);
    if (strikes(Fault::kWatchDuplicate, network_rng_)) deliver(stream, event);
    line.version = std::max(line.version, event.revision);
  }
  if (told < events.value().size()) {
    plan_poll(stream, Duration{network_rng_.between(10, 3'000)});
  } else {
    line.version = std::max(line.version, newest);
    if (strikes(Fault::kBookmark, network_rng_)) {
      deliver(stream, ports_.cluster.store().bookmark(operator_->streams()[stream].resource));
    }
  }
  if (told > 0) plan_pump(ports_.cluster.now());
}

void Process::deliver(int stream, const store::WatchEvent& event) {
  operator_->on_event(stream, client::to_watch_event(event), own_now());
}

// ---- the API ------------------------------------------------------------------------

std::optional<Error> Process::fault_before(const kube::Request& request, bool write) {
  if (write) {
    if (auto error = strike_before(blow_now(), request)) return error;
  }
  if (!trouble_) return std::nullopt;
  if (strikes(Fault::kPause, process_rng_) && process_rng_.chance(10)) {
    ports_.trace.say(ports_.cluster.now(), name_, "is stopped for a minute");
    ports_.let_world_go_on(ports_.cluster.now() + Duration{process_rng_.between(5'000, 60'000)});
  } else if (strikes(Fault::kApiSlow, api_rng_)) {
    ports_.let_world_go_on(ports_.cluster.now() + Duration{api_rng_.between(50, 10'000)});
  }
  if (write && strikes(Fault::kCrash, process_rng_) && process_rng_.chance(50)) throw Died{};
  if (strikes(Fault::kApiTooMany, api_rng_)) return Error{ErrorKind::kUnavailable, "simulated: 429"};
  if (strikes(Fault::kApiServerError, api_rng_)) return Error{ErrorKind::kUnavailable, "simulated: 500"};
  if (write && strikes(Fault::kApiLost, api_rng_)) return Error{ErrorKind::kUnknown, "simulated: timeout"};
  if (write && can_conflict(request) && strikes(Fault::kApiConflict, api_rng_)) {
    return Error{ErrorKind::kConflict, "simulated: conflict"};
  }
  return std::nullopt;
}

std::optional<Error> Process::fault_after(bool write) {
  if (!write) return std::nullopt;
  if (auto error = strike_after(blow_now())) return error;
  if (!trouble_) return std::nullopt;
  if (strikes(Fault::kCrash, process_rng_) && process_rng_.chance(50)) throw Died{};
  if (strikes(Fault::kApiLostApplied, api_rng_)) return Error{ErrorKind::kUnknown, "simulated: timeout"};
  return std::nullopt;
}

Result<client::Reply> Process::send(kube::Request request) {
  const bool is_lease = same_type(request.resource, kube::kLeases);
  const bool write = client::is_write(request) && !is_lease;
  if (write) {
    ++writes_;
    ports_.checkers.on_request(id_, request);
  }
  if (auto error = fault_before(request, write)) {
    if (ports_.trace.on()) {
      ports_.trace.say(ports_.cluster.now(), name_,
                       fmt::format("{}: {}", to_string(request), error->message));
    }
    return *error;
  }
  const kube::Resource resource = request.resource;
  const std::string deed = ports_.trace.on() && write ? to_string(request) : "";
  Result<client::Reply> reply =
      client::carry_out(ports_.cluster.store(), std::move(request), ports_.cluster.now());
  if (!deed.empty()) {
    ports_.trace.say(ports_.cluster.now(), name_,
                     fmt::format("{}{}", deed, reply.ok() ? "" : " refused: " + reply.error().message));
  }
  ports_.cluster.tell({Hand::kOperator, id_}, resource);
  if (auto error = fault_after(write)) {
    if (ports_.trace.on()) ports_.trace.say(ports_.cluster.now(), name_, "  ... but hears nothing of it");
    return *error;
  }
  return reply;
}

}  // namespace trainyard::sim
