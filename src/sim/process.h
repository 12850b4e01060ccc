// Process: one operator process of the simulated world: the real control::Operator, a
// clock that may be wrong, a connection to the API that fails, and a watch network that
// delays, drops, repeats and forgets. It can crash between any two writes, or in the
// middle of one; it then boots again with nothing but what is stored.
//
// A call of the operator's is one moment, unless it is slow: then the world goes on
// while the operator waits for the answer.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "client/client.h"
#include "control/operator.h"
#include "sim/checkers.h"
#include "sim/cluster.h"
#include "sim/options.h"
#include "sim/perturbation.h"
#include "sim/trace.h"

namespace trainyard::sim {

class Process final : public client::Client {
 public:
  // What a process is given. References outlive it.
  struct Ports {
    Cluster& cluster;
    Checkers& checkers;
    Trace& trace;
    // Lets the world go on until then, while this process waits.
    std::function<void(Time)> let_world_go_on;
  };

  Process(int id, Ports ports, const Options& options, std::vector<dialect::Dialect> dialects,
          std::vector<kube::Resource> around, Perturbation perturbation);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() override;

  void boot();
  // A listener of the cluster.
  void on_change(const Change& change);
  // The trouble is over: the clock is right, the network healthy, the process up.
  void settle();

  Result<client::Reply> send(kube::Request request) override;

  int writes() const { return writes_; }
  int64_t passes() const;
  bool alive() const { return operator_ != nullptr; }
  std::optional<Time> next_wake() const;

 private:
  struct Line {
    bool open = false;
    bool poll_planned = false;
    int asks = 0;          // lists and watches so far: the last one takes the place of the others
    int64_t version = 0;   // delivered up to here
    int64_t answered = 0;  // a list of this revision was handed over, and may have been thrown away
    int64_t listed = 0;    // since this revision nothing was left out
    kube::LabelSelector labels;
    std::string ns;
  };

  Time own_now() const { return ports_.cluster.now() + skew_; }
  bool strikes(Fault fault, Rng& rng);
  template <typename Deed>
  void later(Duration after, Deed deed);

  void plan_pump(Time at);
  void pump();
  void ask_streams();
  static void note_taken(Line& line, const kube::Request& next);
  void answer_list(int stream, const kube::Request& request);
  void open_watch(int stream, const kube::Request& request);
  void plan_poll(int stream, Duration after);
  void poll(int stream);
  void deliver(int stream, const store::WatchEvent& event);
  void close(int stream, const std::optional<Error>& error, std::string_view why);
  void begin_pass();
  dialect::KeyPair fake_keys();

  void crash(std::string_view why);
  void maybe_trouble();
  std::optional<Error> fault_before(const kube::Request& request, bool write);
  std::optional<Error> fault_after(bool write);
  Blow blow_now() const {
    return perturbation_.hits(Struck::kOperator, writes_) ? perturbation_.blow : Blow::kNone;
  }

  // Fixed.
  const int id_;
  Ports ports_;
  const Options& options_;
  const std::vector<dialect::Dialect> dialects_;
  const std::vector<kube::Resource> around_;
  const Perturbation perturbation_;
  const bool rivals_;
  const std::string name_;
  // State of the world around the process.
  Rng network_rng_;
  Rng api_rng_;
  Rng process_rng_;
  bool trouble_ = true;
  Duration skew_{0};
  int writes_ = 0;
  int boots_ = 0;
  int keys_ = 0;
  // State of the process.
  std::unique_ptr<control::Operator> operator_;
  std::vector<Line> lines_;
  bool busy_ = false;                            // inside the operator
  std::vector<std::function<void()>> deferred_;  // came in while busy
  std::optional<Time> pump_at_;
};

}  // namespace trainyard::sim
