// Binder: bindings that were decided on, on their way to the server in batches. With workers a
// second batch is under way while the answers to the first are looked at, so that no connection
// stands idle between them; without, send() waits for its batch. Resource; one thread, that of the owner.
//
// Guarantees: what has landed is given out once, in the order in which it came back; a batch is as
// large as takes about half a second, so that whoever sends learns in time that he may no longer.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "client/client.h"
#include "control/scheduler_writes.h"
#include "control/workers.h"

namespace trainyard::control {

// A pod that gets a node.
struct Bind {
  PodName pod;
  std::string node;
};

class Binder {
 public:
  // What came of a batch: an answer for each.
  struct Landed {
    std::vector<Bind> binds;
    std::vector<Result<client::Reply>> replies;
  };

  // All is borrowed. With workers the client takes calls of several threads, and they are stopped
  // before this goes.
  Binder(client::Client& client, std::function<Time()> clock, Workers* workers);
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  void add(Bind bind) { waiting_.push_back(std::move(bind)); }
  // Those that were not sent yet are not to be.
  std::deque<Bind> drop_waiting() { return std::exchange(waiting_, {}); }

  // Nothing waits and nothing is under way.
  bool idle() const { return waiting_.empty() && under_way_ == 0; }
  bool may_send() const;
  // The batch that goes next. REQUIRES: may_send(), and send() with what it gave.
  std::vector<Bind> next();
  void send(std::vector<Bind> batch);
  // Waits until a batch has landed; nullopt when none is under way.
  std::optional<Landed> take_landed();

 private:
  struct Flight {
    Landed landed;
    Time began;
    Time ended;
  };
  void fit_batch(size_t sent, Duration took);

  // Fixed.
  client::Client& client_;
  std::function<Time()> clock_;
  Workers* workers_;
  // State.
  std::deque<Bind> waiting_;
  size_t batch_;
  int under_way_ = 0;  // batches
  // Shared with the workers.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Flight> landed_;
};

}  // namespace trainyard::control
