// Scheduler: the gang scheduler's loop as Steps (steps.h): it looks (scheduler_view.h), lets
// sched::schedule decide, and writes: evictions, then bindings of whole gangs, then what
// PodGroups, Queues and waiting pods are told. Resource; one thread.
//
// Guarantees
//   - no write unless we lead, checked before every single one, and of those that go out at once before
//     each batch;
//   - who takes over from another decides on nothing that it saw before that;
//   - no decision while bindings of the one before are under way;
//   - nothing is asked of the server and nothing computed while nothing changes and no time is
//     reached that the scheduler itself asked for;
//   - it may be thrown away at any moment: a gang that was bound in part is completed or
//     released by the first pass of the next one;
//   - a binding of which nobody knows whether it was done is looked up before the next pass.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/watcher.h"
#include "control/binder.h"
#include "control/event_sink.h"
#include "control/lease.h"
#include "control/recorder.h"
#include "control/scheduler_view.h"
#include "control/scheduler_writes.h"
#include "control/steps.h"
#include "control/volume_waits.h"
#include "sched/decisions.h"
#include "sched/gangs_from.h"
#include "sched/group_status.h"
#include "sched/kept_snapshot.h"

namespace trainyard::control {

struct SchedulerOptions {
  sched::FrontOptions front;
  sched::Policy policy;
  // Whether claims have to be there and to be bound before a pod that mounts them is.
  bool waits_for_claims = false;
  std::string component = "trainyard-scheduler";  // who tells events
  // Leader election; without it we always lead.
  bool elects_leader = false;
  std::string identity = "trainyard";
  std::string lease_ns = "trainyard-system";
  std::string lease_name = "trainyard-scheduler";
};

struct SchedulerCounts {
  int64_t passes = 0;      // decisions taken
  int64_t bound = 0;       // pods
  int64_t evicted = 0;     // pods
  int64_t writes = 0;      // requests that change something, events aside
  int64_t errors = 0;      // of those
  int64_t waiting = 0;     // gangs, after the last pass
  int64_t infeasible = 0;  // of those
  Duration last_pass{0};   // how long it took
  std::string last_error{};
};

// How it is, for whoever asks from outside.
struct SchedulerHealth {
  SchedulerCounts counts;
  bool leads = false;
  bool synced = false;
  std::vector<std::string> troubles{};  // streams that cannot be followed, and why
};

struct SchedulerPorts {
  client::Client& client;
  std::function<Time()> clock;
  // Carry bindings to the server, a batch while the one before is settled; stopped before it goes.
  // The client must then take calls of several threads. Null: one batch after the other.
  Workers* workers = nullptr;
  // Where events go; null: they are sent between other things.
  EventSink* events = nullptr;
  // What the lease is measured with (lease.h). REQUIRES: there is one where a leader is elected.
  std::function<Duration()> uptime{};
  // For the lease alone; null: the same client.
  client::Client* lease_client = nullptr;
  // Told after each step and each list, on the scheduler's thread.
  std::function<void(const SchedulerHealth& health)> on_health{};
};

class Scheduler final : public Steps {
 public:
  Scheduler(SchedulerPorts ports, SchedulerOptions options = {});
  ~Scheduler() override;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  const std::vector<client::Stream>& streams() const { return view_.streams(); }
  std::vector<StreamRequest> requests(Time now) override;
  void on_list(int stream, const Result<client::Reply>& reply, Time now) override;
  void on_opened(int stream) override;
  void on_event(int stream, const client::WatchEvent& event, Time now) override;
  void on_closed(int stream, const std::optional<Error>& error, Time now) override;
  bool step(Time now) override;
  std::optional<Time> next_wake() const override;

  // Tells of what was placed, and gives the lease back, so that another need not wait for its end.
  void hand_over(Time now);
  // From any thread.
  bool leads() const;
  bool synced() const { return view_.synced(); }
  const SchedulerCounts& counts() const { return counts_; }
  // How many things it keeps besides what is there to be seen.
  size_t remembered() const;

 private:
  // A pod of the last pass that has to leave.
  struct Evict {
    PodName pod;
    sched::Eviction eviction;
  };
  struct Status {
    kube::Resource resource;
    client::Object seen;
    json::object status;
  };
  struct Tell {
    PodName pod;
    std::string message;
    bool with_event = false;
    bool stays = false;  // no message: that it will be deleted is no longer true
  };
  struct Event {
    json::object about;
    dialect::EventText text;
  };
  struct Owed {
    Time since;
    bool seen = true;
  };
  // A pod whose binding the server refuses.
  struct Refused {
    Time until;  // no further try before that
    Duration pause{0};
  };
  // What is remembered of a gang that waits.
  struct Wait {
    uint64_t kind = 0;
    Time since;  // of this kind
    std::optional<uint64_t> told{};
    bool seen = true;
  };

  void take_in(int stream, const std::vector<client::Output>& outputs);
  void take_lead(Time now);
  // Whether everything was listed, since we lead.
  bool sees() const { return view_.synced() && awaited_.empty(); }
  bool step_once(Time now);
  void tell_health();
  bool run_lease(Time now);
  bool resolve_doubts(Time now);
  bool run_evictions(Time now);
  void settle_eviction(const Evict& one, const Result<client::Reply>& answer, Time now);
  std::vector<Result<client::Reply>> send_writes(std::vector<kube::Request> requests);
  bool run_bindings(Time now);
  void settle_bindings(const Binder::Landed& landed, Time now);
  void put_off(const Bind& bind, const Error& error, Time now);
  std::set<std::string> gangs_put_off(Time now);
  void drop_bindings();
  void tell_placed();
  bool run_tellings(Time now);
  void settle_volumes(Time now);
  void place_anew(const std::vector<std::string>& uids);
  bool run_pass(Time now);
  bool run_statuses(Time now);
  bool run_tells(Time now);
  bool run_events(Time now);

  void decide(const sched::Snapshot& snapshot, Time now);
  void order_writes(Time now);
  void order_statuses(const sched::Snapshot& snapshot, Time now);
  void order_queue_statuses(const sched::Snapshot& snapshot, Time now);
  bool order_group_status(const sched::Snapshot& snapshot, int g, const sched::Verdict& verdict, Time now);
  void order_status(const kube::Resource& resource, const client::Object& seen, json::object status,
                    bool at_once, Time now);
  void order_tells(const sched::Snapshot& snapshot, Time now);
  void order_unmarks(Time now);
  void order_tells_of(const sched::Gang& gang, const sched::Waiting& waiting, Wait& wait, Time now);
  void failed(const Error& error, Time now);
  void wake_at(Time time);
  void note(json::object about, bool warning, std::string_view reason, std::string message);

  // Fixed.
  SchedulerPorts ports_;
  SchedulerOptions options_;
  std::unique_ptr<client::Client> fence_;  // lets writes through only while we lead
  // State; all of it can be lost.
  SchedulerView view_{options_.waits_for_claims};
  VolumeWaits volume_waits_;
  std::vector<client::Watcher> watchers_;
  std::set<int> awaited_;  // streams of which a fresh list was asked for
  std::optional<Lease> lease_;
  Lead lead_;
  bool led_ = false;
  bool dirty_ = true;
  Time not_before_;           // of the next pass, whatever changes
  std::optional<Time> wake_;  // when there is a pass though nothing changes
  sched::KeptSnapshot snapshot_{options_.front};
  std::optional<uint64_t> decided_on_;  // the revision of the snapshot
  std::optional<Time> decision_ends_;
  sched::Decisions decisions_;
  std::map<std::string, Time> doubts_;      // uid of pods whose binding may have been done: when to look
  std::map<std::string, Refused> refused_;  // by the pod's uid
  std::deque<Evict> evictions_;
  Binder binder_;
  std::vector<Bind> placed_;  // bound, and nobody is told yet
  std::deque<Status> statuses_;
  std::deque<Tell> tells_;
  std::deque<Event> events_;
  std::set<std::string> due_;          // gangs of which the next pass looks at the status, whatever changes
  std::map<std::string, Owed> owed_;   // by uid: since when a status is not what it should be
  std::map<std::string, Wait> waits_;  // by gang
  Recorder recorder_;
  SchedulerCounts counts_;
};

}  // namespace trainyard::control
