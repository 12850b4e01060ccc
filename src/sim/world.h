// World: everything that a run simulates, wired together: clock, store, kubelet,
// scheduler, users, operators, checkers. A run has two phases. First trouble: whatever
// the options allow goes wrong, and safety is judged at every revision. Then peace: the
// world must come to rest as its manifests ask, and then be silent.
//
// Deterministic: equal options and scripts give equal histories. One thread per world.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/checkers.h"
#include "sim/cluster.h"
#include "sim/heap.h"
#include "sim/kubelet.h"
#include "sim/options.h"
#include "sim/process.h"
#include "sim/quota.h"
#include "sim/scheduler.h"
#include "sim/scheduler_process.h"
#include "sim/script.h"
#include "sim/trace.h"
#include "sim/users.h"
#include "sim/yard.h"

namespace trainyard::sim {

struct WorldInput {
  Options options;
  const Script* script = nullptr;  // then nothing happens by chance
  Perturbation perturbation;
  bool trace = false;
};

class World {
 public:
  explicit World(const WorldInput& input);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Both phases. Stops at the first broken invariant.
  void run();

  const std::vector<Violation>& violations() const { return checkers_.violations(); }
  int64_t revision() const { return cluster_.store().revision(); }
  int operator_writes() const;
  int scheduler_writes() const;
  int64_t pods_evicted() const;
  int scheduler_deaths() const;
  // How often one scheduler took over from another.
  int64_t lease_transitions() const;
  std::vector<std::string> take_trace() { return trace_.take(); }
  // What is there at the end, without uids, versions and times: for comparing two runs.
  std::string final_state() const;

 private:
  // What a crowded world has instead of the model of a scheduler.
  struct Crowd {
    Crowd(World& world);
    GangChecks checks;
    Yard yard;
    std::vector<std::unique_ptr<SchedulerProcess>> schedulers;
  };

  void wire();
  void settle_crowd();
  void watch_gangs(Time until);
  void play(const ScriptLine& line);
  void run_until(Time end);
  void settle();
  void come_to_rest();
  void watch_silence();
  void on_change(const Change& change);
  void tell_story(const Change& change);
  void plan_collection(const Change& change);
  bool broken() const { return !checkers_.violations().empty(); }

  HeapScope heap_;
  // Fixed.
  const WorldInput input_;
  // State.
  Agenda agenda_;
  Trace trace_;
  Cluster cluster_;
  Checkers checkers_;
  Kubelet kubelet_;
  std::optional<Scheduler> scheduler_;
  std::unique_ptr<Crowd> crowd_;
  Users users_;
  Quota quota_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::set<std::string, std::less<>> job_uids_;  // of those that are there
  bool collection_planned_ = false;
  bool silence_ = false;
  int64_t steps_ = 0;
  int64_t loud_writes_ = 0;
  Time last_change_;  // leases aside
  std::string last_loud_;
};

}  // namespace trainyard::sim
