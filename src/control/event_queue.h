// EventQueue: Events that go out beside the work, from a thread of their own, so that no pass
// waits for them. Resource; tell() from any thread.
//
// What says the same about the same job becomes one Event with a count. What is alike (same
// job, same reason) and waits at the same time becomes one Event that names them all, unless
// each is asked for; so a job with many replicas costs a few Events, not hundreds. Words that
// may be told with others (EventText::joins) are added to those, if they wait. An Event that the server
// cannot take now is tried again; the line is bounded, and what finds it full is counted as lost.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "control/event_sink.h"
#include "control/recorder.h"

namespace trainyard::control {

struct EventQueueOptions {
  bool combine = true;
  size_t waiting_max = 20'000;
  size_t together = 8;     // how many go out at a time
  Duration gather{1'000};  // how long the first of its kind waits for others
  // While it says so there is work that the server is needed for: Events wait for it to end, and when they
  // have waited too long, or are too many, go one at a time. Asked on the sending thread; empty: never.
  std::function<bool()> busy = nullptr;
  Duration busy_max{10'000};
  Duration retry_first{500};
  Duration retry_max{15'000};
};

struct EventQueueCounts {
  int64_t told = 0;      // tell() was called
  int64_t sent = 0;      // Events written, new ones and risen counts
  int64_t lost = 0;      // found no room, or were refused for good
  int64_t combined = 0;  // went out as part of another
};

class EventQueue final : public EventSink {
 public:
  using Clock = std::function<Time()>;
  // `client` outlives it and takes calls of several threads.
  EventQueue(client::Client& client, Clock clock, EventQueueOptions options = {});
  ~EventQueue() override;
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  void tell(const json::object& about, std::string_view component, const dialect::EventText& text,
            Time now) override;
  // Sends what waits, for at most this long, and ends. Idempotent.
  void stop(Duration patience);

  EventQueueCounts counts() const;

 private:
  // Words of one kind about one job that wait.
  struct Waiting {
    Reference about;
    std::string component;
    bool warning = false;
    std::string reason;
    std::vector<std::string> messages;
    std::chrono::steady_clock::time_point since;
    Time now;
  };
  // uid, component, warning, reason; and the message when each is asked for
  using Kind = std::string;

  void run();
  // Until the first of the line has waited for others of its kind, and for what is more urgent.
  void ripen(std::unique_lock<std::mutex>& lock);
  // The first of the line and those behind it that have waited long enough, as many as go together.
  std::vector<Waiting> take_ripe();
  // What the server has of a batch.
  struct Sent {
    int64_t events = 0;
    int64_t words = 0;
  };
  Sent send(const std::vector<Waiting>& batch);
  // Before what failed is tried again; false when there is no time left.
  bool wait(Duration length);

  // Fixed.
  client::Client& client_;
  Clock clock_;
  EventQueueOptions options_;
  // State of the sending thread.
  Recorder recorder_;
  // Shared.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Kind, Waiting> waiting_;
  std::deque<Kind> line_;
  size_t waiting_words_ = 0;
  EventQueueCounts counts_;
  bool stopping_ = false;
  std::chrono::steady_clock::time_point stop_by_;
  std::thread thread_;
};

// "Created pod: a" and "Created pod: b" as "Created pod: a, b"; no longer than an Event's
// message may be. Pure.
std::string combined_message(const std::vector<std::string>& messages);

}  // namespace trainyard::control
