// GangProcess: one scheduler process of a simulated world of gangs: the real control::Scheduler
// over a network that delays, and an API that fails, answers late, or does what it says it did
// not. It can die at any write and begins anew with nothing but what is stored. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/rng.h"
#include "client/client.h"
#include "control/scheduler.h"
#include "sim/agenda.h"
#include "store/store.h"

namespace trainyard::sim {

class GangProcess final : public client::Client {
 public:
  struct Ports {
    store::Store& store;
    Agenda& agenda;
    // After each write: the uid of the pod that was deleted by it, "" for none.
    std::function<void(const std::string& evicted)> wrote;
    std::function<void()> died;
  };
  GangProcess(Ports ports, Rng rng, control::SchedulerOptions options);

  void boot();
  // Something was written by somebody: it will be told, sooner or later.
  void on_change();
  void settle() { trouble_ = false; }

  Result<client::Reply> send(const kube::Request& request) override;

  int64_t writes() const { return writes_; }
  int deaths() const { return deaths_; }

 private:
  struct Died {};

  void plan_pump(Time at);
  void pump();
  void carry();
  void die();
  std::optional<Error> trouble_before();
  std::optional<Error> trouble_after();

  // Fixed.
  Ports ports_;
  control::SchedulerOptions options_;
  // State.
  Rng rng_;
  std::unique_ptr<control::Scheduler> scheduler_;
  std::map<int, int64_t> from_;  // by stream: delivered up to here
  std::optional<Time> pump_at_;
  bool inside_ = false;
  bool trouble_ = true;
  int64_t writes_ = 0;
  int deaths_ = 0;
};

}  // namespace trainyard::sim
