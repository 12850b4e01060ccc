#include "control/event_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "kube/access.h"

namespace trainyard::control {
namespace {

using std::chrono::steady_clock;

constexpr size_t kMessageMax = 1'000;  // the server takes 1,024 bytes
constexpr int kTriesMax = 8;
constexpr Duration kLookAgain{50};

bool may_pass(const Error& error) {
  return error.kind == ErrorKind::kUnavailable || error.kind == ErrorKind::kUnknown;
}

}  // namespace

namespace {

std::string combined(std::span<const std::string> messages, size_t most) {
  std::string_view first = messages.front();
  size_t shared = first.size();
  for (const std::string& message : messages) {
    size_t same = 0;
    while (same < shared && same < message.size() && message[same] == first[same]) ++same;
    shared = same;
  }
  size_t space = first.substr(0, shared).rfind(' ');
  size_t cut = space == std::string_view::npos ? 0 : space + 1;
  std::string text(first);
  // A whole sentence, and what else there is to say.
  if (cut == 0 && messages.size() > 1 && first.ends_with('.')) {
    size_t left = most - std::min(most, text.size() + 1);
    return fmt::format("{} {}", text, combined(messages.subspan(1), left));
  }
  for (size_t i = 1; i < messages.size(); ++i) {
    std::string_view rest = std::string_view(messages[i]).substr(std::min(cut, messages[i].size()));
    if (text.size() + rest.size() > most) return fmt::format("{} and {} more", text, messages.size() - i);
    text += fmt::format(", {}", rest);
  }
  return text;
}

}  // namespace

std::string combined_message(const std::vector<std::string>& messages) {
  return combined(messages, kMessageMax);
}

EventQueue::EventQueue(client::Client& client, Clock clock, EventQueueOptions options)
    : client_(client), clock_(std::move(clock)), options_(std::move(options)), thread_([this] { run(); }) {}

EventQueue::~EventQueue() { stop(Duration{0}); }

void EventQueue::tell(const json::object& about, std::string_view component, const dialect::EventText& text,
                      Time now) {
  auto kind_for = [&](std::string_view reason) {
    return fmt::format("{}|{}|{}|{}|{}", kube::uid_of(about), component, text.warning, reason,
                       options_.combine ? "" : text.message);
  };
  Kind kind = kind_for(text.reason);
  std::lock_guard lock(mutex_);
  for (const std::string& reason : text.joins) {
    Kind other = kind_for(reason);
    if (!options_.combine || !waiting_.contains(other)) continue;
    kind = std::move(other);
    break;
  }
  ++counts_.told;
  if (waiting_words_ >= options_.waiting_max || stopping_) {
    ++counts_.lost;
    return;
  }
  auto [found, added] = waiting_.try_emplace(kind);
  Waiting& waiting = found->second;
  if (added) {
    waiting = {
        reference_of(about), std::string(component), text.warning, text.reason, {}, steady_clock::now(), now};
    line_.push_back(kind);
    changed_.notify_one();
  }
  waiting.messages.push_back(text.message);
  ++waiting_words_;
}

void EventQueue::stop(Duration patience) {
  {
    std::lock_guard lock(mutex_);
    if (!stopping_) stop_by_ = steady_clock::now() + patience;
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

EventQueueCounts EventQueue::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

void EventQueue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !line_.empty(); });
    if (line_.empty()) return;
    ripen(lock);
    std::vector<Waiting> batch = take_ripe();
    int64_t words = 0;
    for (const Waiting& waiting : batch) words += static_cast<int64_t>(waiting.messages.size());
    waiting_words_ -= static_cast<size_t>(words);
    if (stopping_ && steady_clock::now() >= stop_by_) {
      counts_.lost += words;
      continue;
    }
    lock.unlock();
    Sent sent = send(batch);
    lock.lock();
    counts_.sent += sent.events;
    counts_.combined += sent.words - sent.events;
    counts_.lost += words - sent.words;
  }
}

void EventQueue::ripen(std::unique_lock<std::mutex>& lock) {
  steady_clock::time_point since = waiting_.at(line_.front()).since;
  auto stops = [this] { return stopping_; };
  changed_.wait_until(lock, since + options_.gather, stops);
  auto may_wait = [&] {
    return options_.busy && steady_clock::now() < since + options_.busy_max &&
           waiting_words_ < options_.waiting_max / 2;
  };
  while (!stopping_ && may_wait() && options_.busy()) changed_.wait_for(lock, kLookAgain, stops);
}

std::vector<EventQueue::Waiting> EventQueue::take_ripe() {
  size_t together = options_.busy && options_.busy() ? 1 : options_.together;
  std::vector<Waiting> batch;
  steady_clock::time_point ripe = steady_clock::now() - options_.gather;
  while (!line_.empty() && batch.size() < together) {
    auto found = waiting_.find(line_.front());
    if (!batch.empty() && !stopping_ && found->second.since > ripe) break;
    batch.push_back(std::move(found->second));
    waiting_.erase(found);
    line_.pop_front();
  }
  return batch;
}

EventQueue::Sent EventQueue::send(const std::vector<Waiting>& batch) {
  struct Left {
    const Waiting* waiting;
    dialect::EventText text;
    Recorder::Telling telling;
  };
  auto prepare = [this](const Waiting& of, const dialect::EventText& text) {
    return recorder_.prepare(of.about, of.component, text, of.now);
  };
  Sent sent;
  Duration pause = options_.retry_first;
  std::vector<Left> left;
  left.reserve(batch.size());
  for (const Waiting& waiting : batch) {
    dialect::EventText text{waiting.warning, waiting.reason, combined_message(waiting.messages)};
    left.push_back({&waiting, text, prepare(waiting, text)});
  }
  for (int tries = 0; tries < kTriesMax && !left.empty(); ++tries) {
    if (tries > 0 && !wait(std::exchange(pause, std::min(pause * 2, options_.retry_max)))) break;
    std::vector<kube::Request> requests;
    requests.reserve(left.size());
    for (const auto& [waiting, text, telling] : left) {
      requests.push_back(
          Recorder::request_of(telling, waiting->about, waiting->component, text, waiting->now));
    }
    std::vector<Result<client::Reply>> replies = client_.send_all(std::move(requests));
    std::vector<Left> again;
    for (size_t i = 0; i < left.size(); ++i) {
      auto& [waiting, text, telling] = left[i];
      const Result<client::Reply>& reply = replies[i];
      bool expired = !recorder_.answer(telling, reply);
      // Of an earlier try nobody heard how it went.
      bool was_there = tries > 0 && !reply.ok() && reply.error().kind == ErrorKind::kAlreadyExists;
      if (reply.ok() || was_there) {
        ++sent.events;
        sent.words += static_cast<int64_t>(waiting->messages.size());
        continue;
      }
      if (expired) telling = prepare(*waiting, text);
      if (expired || may_pass(reply.error())) again.push_back(std::move(left[i]));
    }
    left = std::move(again);
  }
  return sent;
}

bool EventQueue::wait(Duration length) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, length, [this] { return stopping_ && steady_clock::now() >= stop_by_; });
}

}  // namespace trainyard::control
