// SchedulerProcess: one scheduler process of a crowded world: the real control::Scheduler over a
// network that delays and an API that fails, answers late, or does what it says it did not; the
// faults are those that the operator's process meets (process.h). It can die at any write and
// begins anew with nothing but what is stored. One thread.
//
// Where there are two they are elected as on a cluster, and either may be stopped in the middle of a
// call, for longer than its lease lasts; the world goes on meanwhile.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/rng.h"
#include "client/client.h"
#include "control/scheduler.h"
#include "sim/cluster.h"
#include "sim/gang_checks.h"
#include "sim/options.h"
#include "sim/perturbation.h"
#include "sim/trace.h"

namespace trainyard::sim {

class SchedulerProcess final : public client::Client {
 public:
  struct Ports {
    Cluster& cluster;
    GangChecks& checks;
    Trace& trace;
    // Lets the world go on until then, while this process waits.
    std::function<void(Time)> let_world_go_on;
  };
  SchedulerProcess(int id, Ports ports, const Options& options, const Perturbation& perturbation);
  SchedulerProcess(const SchedulerProcess&) = delete;
  SchedulerProcess& operator=(const SchedulerProcess&) = delete;

  void boot();
  // What happens to pods is told to it when this time has passed.
  void freeze_pods(Duration time);
  // A listener of the cluster.
  void on_change(const Change& change);
  void settle();
  // Ends for good.
  void retire();
  // Starts anew, without election: the other has retired.
  void stay_alone();

  Result<client::Reply> send(kube::Request request) override;

  int64_t evicted() const { return evicted_; }
  int deaths() const { return deaths_; }
  // Of whatever is not an event.
  int writes() const { return writes_; }

 private:
  Time own_now() const { return ports_.cluster.now() + skew_; }
  bool strikes(Fault fault);
  void plan_pump(Time at);
  void pump();
  void work();
  void carry();
  void deliver(int stream, int64_t& version);
  void die();
  void maybe_wait();
  std::optional<Error> trouble_of_lease();
  std::optional<Error> trouble_before(const kube::Request& request);
  std::optional<Error> trouble_after();
  Blow blow_now() const {
    return perturbation_.hits(Struck::kScheduler, writes_) ? perturbation_.blow : Blow::kNone;
  }

  // Fixed.
  const int id_;
  Ports ports_;
  const Options& options_;
  const Perturbation perturbation_;
  const std::string name_;
  // State.
  Rng rng_;
  bool elected_;  // there are two
  std::unique_ptr<control::Scheduler> scheduler_;
  std::map<int, int64_t> seen_;       // by stream: everything up to this revision was told
  std::map<int, Time> frozen_until_;  // by stream
  std::optional<Time> pump_at_;
  bool inside_ = false;
  bool clean_ = true;  // no request has failed since the pass began
  bool trouble_ = true;
  Duration skew_{0};
  int64_t evicted_ = 0;
  int deaths_ = 0;
  int writes_ = 0;
};

}  // namespace trainyard::sim
