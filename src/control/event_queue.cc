#include "control/event_queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"

namespace trainyard::control {
namespace {

using std::chrono::steady_clock;

constexpr size_t kMessageMax = 1'000;  // the server takes 1,024 bytes
constexpr int kTriesMax = 8;

// What an Event needs to know of the job.
json::object reference_to(const json::object& about) {
  json::object metadata;
  for (std::string_view field : {"name", "namespace", "uid", "resourceVersion"}) {
    std::string_view text = kube::text_at(about, {"metadata", field});
    if (!text.empty()) metadata[kube::jview(field)] = kube::jview(text);
  }
  return {{"apiVersion", kube::jview(kube::text_at(about, {"apiVersion"}))},
          {"kind", kube::jview(kube::text_at(about, {"kind"}))},
          {"metadata", std::move(metadata)}};
}

// Under which reason words join others that wait: services are deleted with their pods.
constexpr std::string_view kPodsDeleted = "SuccessfulDeletePod";
constexpr std::string_view kServicesDeleted = "SuccessfulDeleteService";

// Hands the last answer on: whether an Event that was not taken is worth another try.
class Listening final : public client::Client {
 public:
  explicit Listening(client::Client& inner) : inner_(inner) {}
  Result<client::Reply> send(const kube::Request& request) override {
    Result<client::Reply> reply = inner_.send(request);
    last = reply.ok() ? std::nullopt : std::optional<Error>(reply.error());
    return reply;
  }
  std::optional<Error> last;

 private:
  client::Client& inner_;
};

}  // namespace

std::string combined_message(const std::vector<std::string>& messages) {
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
  for (size_t i = 1; i < messages.size(); ++i) {
    std::string_view rest = std::string_view(messages[i]).substr(std::min(cut, messages[i].size()));
    if (text.size() + rest.size() > kMessageMax)
      return fmt::format("{} and {} more", text, messages.size() - i);
    text += fmt::format(", {}", rest);
  }
  return text;
}

EventQueue::EventQueue(client::Client& client, Clock clock, EventQueueOptions options)
    : client_(client), clock_(std::move(clock)), options_(options), thread_([this] { run(); }) {}

EventQueue::~EventQueue() { stop(Duration{0}); }

void EventQueue::tell(const json::object& about, std::string_view component, const dialect::EventText& text,
                      Time now) {
  auto kind_for = [&](std::string_view reason) {
    return fmt::format("{}|{}|{}|{}|{}", kube::uid_of(about), component, text.warning, reason,
                       options_.combine ? "" : text.message);
  };
  Kind kind = kind_for(text.reason);
  std::lock_guard lock(mutex_);
  if (options_.combine && text.reason == kServicesDeleted) {
    Kind with_pods = kind_for(kPodsDeleted);
    if (waiting_.contains(with_pods)) kind = std::move(with_pods);
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
        reference_to(about), std::string(component), text.warning, text.reason, {}, steady_clock::now(), now};
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
    // The first of its kind waits a little for others; when all is to end, none does.
    Kind kind = line_.front();
    changed_.wait_until(lock, waiting_.at(kind).since + options_.gather, [this] { return stopping_; });
    line_.pop_front();
    auto found = waiting_.find(kind);
    Waiting waiting = std::move(found->second);
    waiting_.erase(found);
    int64_t words = static_cast<int64_t>(waiting.messages.size());
    waiting_words_ -= waiting.messages.size();
    if (stopping_ && steady_clock::now() >= stop_by_) {
      counts_.lost += words;
      continue;
    }
    lock.unlock();
    bool sent = send(waiting);
    lock.lock();
    if (sent) {
      ++counts_.sent;
      counts_.combined += words - 1;
    } else {
      counts_.lost += words;
    }
  }
}

// Whether the server has it.
bool EventQueue::send(const Waiting& waiting) {
  dialect::EventText text{waiting.warning, waiting.reason, combined_message(waiting.messages)};
  Listening client(client_);
  Duration pause = options_.retry_first;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    client.last.reset();
    recorder_.tell(client, waiting.about, waiting.component, text, waiting.now);
    if (!client.last) return true;
    bool may_pass = client.last->kind == ErrorKind::kUnavailable || client.last->kind == ErrorKind::kUnknown;
    if (!may_pass) return false;
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, pause, [this] { return stopping_ && steady_clock::now() >= stop_by_; })) {
      return false;
    }
    pause = std::min(pause * 2, options_.retry_max);
  }
  return false;
}

}  // namespace trainyard::control
