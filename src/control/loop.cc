#include "control/loop.h"

#include "base/match.h"

namespace trainyard::control {
namespace {

// How much is done before incoming events are looked at again, and how many of them may wait meanwhile: each
// is a whole document.
constexpr int kStepsPerTurn = 32;
constexpr size_t kWaitingMax = 64;
// The longest sleep: a clock that was set back is noticed within it.
constexpr Duration kSleepMax{30'000};

}  // namespace

Loop::Loop(Steps& steps, client::Client& client, client::WatchSource& watches, Clock clock, Workers* workers)
    : steps_(steps), client_(client), watches_(watches), clock_(std::move(clock)), workers_(workers) {}

Loop::~Loop() { stop(); }

void Loop::start() {
  steps_.set_waker([this] {
    {
      std::lock_guard lock(mutex_);
      roused_ = true;
    }
    wake_.notify_one();
  });
  thread_ = std::thread([this] { run(); });
}

void Loop::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  steps_.set_waker(nullptr);
}

bool Loop::stopping() {
  std::lock_guard lock(mutex_);
  return stopping_;
}

bool Loop::is_crowded() {
  std::lock_guard lock(mutex_);
  return incoming_.size() > kWaitingMax;
}

void Loop::run() {
  while (!stopping()) {
    take_in();
    ask();
    int done = 0;
    while (done < kStepsPerTurn && steps_.step(clock_())) {
      ++done;
      if (is_crowded()) break;
    }
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
  // Each goes as soon as it is taken in: many at once would be kept twice.
  for (; !incoming.empty(); incoming.pop_front()) take(incoming.front());
}

void Loop::take(Incoming& one) {
  if (auto* listed = std::get_if<Listed>(&one.what)) {
    return page_came(one.stream, one.number, std::move(listed->reply));
  }
  auto found = open_.find(one.stream);
  if (found == open_.end() || found->second.number != one.number) return;
  std::visit(Match{
                 [&](const client::WatchEvent& event) { steps_.on_event(one.stream, event, clock_()); },
                 [&](const Opened&) { steps_.on_opened(one.stream); },
                 [&](const Closed& closed) {
                   open_.erase(found);
                   steps_.on_closed(one.stream, closed.error, clock_());
                 },
                 [](const Listed&) {},
             },
             one.what);
}

void Loop::ask() {
  for (StreamRequest& wanted : steps_.requests(clock_())) {
    open_.erase(wanted.stream);
    if (std::holds_alternative<kube::Watch>(wanted.request.verb)) {
      pages_.erase(wanted.stream);
      open_watch(wanted);
    } else if (workers_ != nullptr) {
      ask_for_page(std::move(wanted));
    } else {
      steps_.on_list(wanted.stream, client_.send(std::move(wanted.request)), clock_());
    }
  }
}

void Loop::ask_for_page(StreamRequest wanted) {
  auto found = pages_.find(wanted.stream);
  if (found == pages_.end() || found->second.request != wanted.request) {
    return send_page(wanted.stream, std::move(wanted.request), true);
  }
  Page& page = found->second;
  page.is_wanted = true;
  if (!page.reply) return;
  const Result<client::Reply> reply = std::move(*page.reply);  // its page goes when it is answered
  answer_page(wanted.stream, reply);
}

void Loop::send_page(int stream, kube::Request request, bool is_wanted) {
  const int64_t number = ++numbers_;
  pages_.insert_or_assign(stream, Page{number, request, is_wanted, std::nullopt});
  workers_->run([this, stream, number, request = std::move(request)] {
    put({stream, number, Listed{client_.send(request)}});
  });
}

void Loop::page_came(int stream, int64_t number, Result<client::Reply> reply) {
  auto found = pages_.find(stream);
  if (found == pages_.end() || found->second.number != number) return;
  if (found->second.is_wanted) return answer_page(stream, reply);
  found->second.reply = std::move(reply);
}

// What the next request will be is known before the controller says so.
void Loop::answer_page(int stream, const Result<client::Reply>& reply) {
  kube::Request next = std::move(pages_.at(stream).request);
  pages_.erase(stream);
  if (reply.ok() && !reply->continue_token.empty()) {
    std::get<kube::List>(next.verb).continue_token = reply->continue_token;
    send_page(stream, std::move(next), false);
  }
  steps_.on_list(stream, reply, clock_());
}

void Loop::open_watch(const StreamRequest& wanted) {
  int stream = wanted.stream;
  int64_t number = ++numbers_;
  Watch& watch = open_[stream];
  watch.number = number;
  watch.open = watches_.open(wanted.request, {[=, this](client::WatchEvent event) {
                                                put({stream, number, std::move(event)});
                                              },
                                              [=, this](const std::optional<Error>& error) {
                                                put({stream, number, Closed{error}});
                                              },
                                              [=, this] {
                                                put({stream, number, Opened{}});
                                              }});
}

void Loop::put(Incoming incoming) {
  bool is_first = false;
  {
    std::lock_guard lock(mutex_);
    is_first = incoming_.empty();
    incoming_.push_back(std::move(incoming));
  }
  if (is_first) wake_.notify_one();
}

void Loop::sleep() {
  Time now = clock_();
  Duration pause = kSleepMax;
  if (std::optional<Time> next = steps_.next_wake()) pause = std::clamp(*next - now, Duration{0}, kSleepMax);
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, pause, [this] { return stopping_ || roused_ || !incoming_.empty(); });
  roused_ = false;
}

}  // namespace trainyard::control
