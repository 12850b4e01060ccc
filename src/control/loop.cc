#include "control/loop.h"

#include "base/match.h"

namespace trainyard::control {
namespace {

// How much is done before incoming events are looked at again.
constexpr int kStepsPerTurn = 32;
// The longest sleep: a clock that was set back is noticed within it.
constexpr Duration kSleepMax{30'000};

}  // namespace

Loop::Loop(Steps& steps, client::Client& client, client::WatchSource& watches, Clock clock)
    : steps_(steps), client_(client), watches_(watches), clock_(std::move(clock)) {}

Loop::~Loop() { stop(); }

void Loop::start() {
  thread_ = std::thread([this] { run(); });
}

void Loop::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Loop::stopping() {
  std::lock_guard lock(mutex_);
  return stopping_;
}

void Loop::run() {
  while (!stopping()) {
    take_in();
    ask();
    int done = 0;
    while (done < kStepsPerTurn && steps_.step(clock_())) ++done;
    if (done == 0) sleep();
  }
  open_.clear();
}

void Loop::take_in() {
  std::deque<Incoming> incoming;
  {
    std::lock_guard lock(mutex_);
    incoming.swap(incoming_);
  }
  for (const Incoming& one : incoming) {
    auto found = open_.find(one.stream);
    if (found == open_.end() || found->second.number != one.watch) continue;
    std::visit(Match{
                   [&](const client::WatchEvent& event) { steps_.on_event(one.stream, event, clock_()); },
                   [&](const Closed& closed) {
                     open_.erase(found);
                     steps_.on_closed(one.stream, closed.error, clock_());
                   },
               },
               one.what);
  }
}

void Loop::ask() {
  for (const StreamRequest& wanted : steps_.requests(clock_())) {
    open_.erase(wanted.stream);
    if (std::holds_alternative<kube::Watch>(wanted.request.verb)) {
      open_watch(wanted);
    } else {
      steps_.on_list(wanted.stream, client_.send(wanted.request), clock_());
    }
  }
}

void Loop::open_watch(const StreamRequest& wanted) {
  int stream = wanted.stream;
  int64_t number = ++watches_opened_;
  Watch& watch = open_[stream];
  watch.number = number;
  watch.open = watches_.open(wanted.request, {[=, this](client::WatchEvent event) {
                                                put({stream, number, std::move(event)});
                                              },
                                              [=, this](const std::optional<Error>& error) {
                                                put({stream, number, Closed{error}});
                                              }});
}

void Loop::put(Incoming incoming) {
  {
    std::lock_guard lock(mutex_);
    incoming_.push_back(std::move(incoming));
  }
  wake_.notify_one();
}

void Loop::sleep() {
  Time now = clock_();
  Duration pause = kSleepMax;
  if (std::optional<Time> next = steps_.next_wake()) pause = std::clamp(*next - now, Duration{0}, kSleepMax);
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, pause, [this] { return stopping_ || !incoming_.empty(); });
}

}  // namespace trainyard::control
