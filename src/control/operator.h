// Operator: the whole control loop as a step machine that does no waiting of its own:
// whoever drives it (the real loop, the simulator) carries streams of objects in, asks
// when it wants to be woken, and lets it do one thing at a time.
//
//   for each of requests(now):   a List is sent and answered with on_list; a Watch is
//                                opened, its events go to on_event, its end to on_closed
//   while (run_one(now)) {}      one pass, or one step of the lease
//   sleep until next_wake(), or until something comes in
//
// Resource; one thread. Writes and live reads go through the client it was given: inside
// run_one, or, when it was given workers, on their threads, several passes at once; then
// run_one begins a pass or settles one that was carried out. It may be thrown away at any
// moment, between two writes of a pass as well (once its workers have stopped): a new one
// carries on from what is stored.
//
// Guarantees: no pass before every stream was listed once; no write unless we lead (see
// lease.h), checked before every single write; a key is not planned before the caches
// have shown what was written for it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/barrier.h"
#include "client/client.h"
#include "client/watcher.h"
#include "control/event_sink.h"
#include "control/key.h"
#include "control/lease.h"
#include "control/observer.h"
#include "control/queue.h"
#include "control/reconciler.h"
#include "control/steps.h"
#include "control/view.h"
#include "control/workers.h"
#include "dialect/shared/dialect.h"

namespace trainyard::control {

struct OperatorOptions {
  dialect::Settings settings;
  std::vector<kube::Resource> around = resources_around();
  std::vector<std::string> namespaces = {};  // none: all
  // How jobs, their pods and their services are kept: all of these are many. Documents where the
  // client's server is in this process and holds them anyway.
  client::Form at_rest = client::Form::kText;
  // How long changes of a job's pods and services are gathered before a pass looks at them.
  Duration gather{0};
  // ... and while no worker is free: new jobs are begun before others are looked at again.
  Duration gather_busy{0};
  // Leader election; without it we always lead.
  bool elects_leader = false;
  std::string identity = "trainyard";
  std::string lease_ns = "trainyard-system";
  std::string lease_name = "trainyard-operator";
};

struct OperatorPorts {
  client::Client& client;
  MakeKeys make_keys;
  std::function<Time()> clock;  // any thread
  // Where passes are carried out; the client must then take calls of several threads.
  Workers* workers = nullptr;
  // What the lease is measured with (lease.h), asked before every write whether we still lead: passes
  // may take long. Any thread. REQUIRES: there is one where a leader is elected.
  std::function<Duration()> uptime = {};
  // Renews the lease; nullptr: the client does.
  client::Client* lease_client = nullptr;
  EventSink* events = nullptr;   // nullptr: Events are sent by the client, at once
  Observer* observer = nullptr;  // nullptr: nobody listens
};

// What run_one did.
struct Turn {
  std::optional<JobKey> key;  // none: it was a step of the lease
  bool begun = false;         // the pass is with the workers; its outcome is another turn
  bool waited = false;        // the key waits for the caches to show our writes
  Pass pass;
};

struct OperatorCounts {
  int64_t passes = 0;
  int64_t writes = 0;
  int64_t errors = 0;
  Transition transitions;
};

class Operator final : public Steps {
 public:
  Operator(OperatorPorts ports, std::vector<dialect::Dialect> dialects, OperatorOptions options = {});
  ~Operator() override;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  const std::vector<client::Stream>& streams() const { return view_.streams; }
  std::vector<StreamRequest> requests(Time now) override;
  void on_list(int stream, const Result<client::Reply>& reply, Time now) override;
  void on_opened(int stream) override;
  void on_event(int stream, const client::WatchEvent& event, Time now) override;
  void on_closed(int stream, const std::optional<Error>& error, Time now) override;

  // Does one thing that is due; nullopt when nothing is.
  std::optional<Turn> run_one(Time now);
  bool step(Time now) override { return run_one(now).has_value(); }
  std::optional<Time> next_wake() const override;
  void set_waker(const std::function<void()>& wake) override;

  // Gives the lease away at once, if it is ours. REQUIRES: nothing is with the workers.
  void hand_over(Time now);

  // From any thread.
  bool leads() const;
  bool synced() const { return view_.synced(); }
  const View& view() const { return view_; }
  const OperatorCounts& counts() const { return counts_; }
  int in_flight() const { return in_flight_; }  // passes that are with the workers

 private:
  class Fence;
  struct Flight;
  struct LeaseAnswer {
    Result<client::Reply> reply;
    Duration sent;
    bool wrote = false;
  };

  void take_in(int stream, const std::vector<client::Output>& outputs, Time now);
  void wake(int dialect, std::string_view ns, std::string_view name, Time now);
  void look_at(JobKey key, Time now);
  void wake_jobs_of(int stream, const json::object& object, Time now);
  // A job that is awake already; dialect -1 for none.
  struct Woken {
    int dialect = -1;
    std::string_view name;
  };
  void wake_owner(const json::object& object, const Woken& woken, Time now);
  void wake_everything(Time now);
  void note_stream(int stream);
  Duration gathering(int place) const;
  std::optional<Turn> run_lease(Time now);
  void lease_answered(const LeaseAnswer& answer);
  void note_lease(const LeaseAnswer& answer);
  std::optional<Turn> settle_flight(Time now);
  std::optional<Turn> run_key(Time now);
  std::optional<Pass> fly(Flight flight);
  std::optional<Pass> land(Flight flight, Time now);
  bool may_begin() const;
  void settle(const JobKey& key, const Pass& pass, Time now);
  bool holds_back(const JobKey& key, Time now);
  void sweep_tombstones(Time now);
  void sweep(const DialectStreams& streams, const std::string& ns, Time now);

  // Fixed.
  OperatorPorts ports_;
  std::vector<dialect::Dialect> dialects_;
  OperatorOptions options_;
  std::unique_ptr<Fence> fence_;
  std::unique_ptr<EventSink> own_events_;
  // State; all of it can be lost.
  View view_;
  std::vector<client::Watcher> watchers_;
  Queue<JobKey> queue_;
  client::Barrier<JobKey> barrier_;
  std::map<JobKey, Time> due_since_;  // for the observer alone
  std::vector<StreamHealth> health_;
  std::optional<Lease> lease_;
  Lead lead_;
  bool lease_asked_ = false;
  std::optional<Error> lease_trouble_;
  bool led_ = false;
  Time next_sweep_;
  Time last_now_;
  std::unique_ptr<Reconciler> reconciler_;
  OperatorCounts counts_;
  int in_flight_ = 0;
  // Shared with the workers.
  std::mutex mutex_;
  std::function<void()> wake_;
  std::vector<Flight> landed_;
  std::optional<LeaseAnswer> lease_answer_;
};

}  // namespace trainyard::control
