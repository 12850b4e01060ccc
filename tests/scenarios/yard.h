// Yard: a small world for scenarios. The real store, client, control loop, engine and
// dialects; people and machines are moved by hand. Manifests go in as YAML text, pods are
// told what happens to them ("worker-0 Running; worker-1 Failed 137"), and everything that
// can be seen comes out as text, so that a test reads as its scenario. Single-threaded;
// time stands still unless it is moved.
//
// Jobs live in the namespace "ns". Pods and services are named without the job's name:
// "worker-0". After each thing that happens the world is run until nothing moves any more.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "client/in_process.h"
#include "control/operator.h"
#include "dialect/shared/dialect.h"
#include "model/plan.h"
#include "store/store.h"

namespace trainyard::scenarios {

// A TFJob named "j". Roles as "Chief 1, Worker 4 OnFailure"; the others are YAML, of
// spec.runPolicy ("cleanPodPolicy: All, backoffLimit: 3") and of spec ("successPolicy: AllWorkers").
std::string tfjob(std::string_view roles, std::string_view run_policy = "", std::string_view spec = "");
// A Volcano Job named "j". Tasks as "ps 1, worker 2"; more of a task in braces after it, as YAML:
// "worker 2 {minAvailable: 1}". The rest is YAML of spec, beginning with a field.
std::string vcjob(std::string_view tasks, std::string_view spec = "");
// The text with one part of it replaced. REQUIRES: the part is there.
std::string with(std::string text, std::string_view part, std::string_view instead);

// Stands between the operator and the store: counts, remembers, and refuses when told to.
class Tap final : public client::Client {
 public:
  Tap(store::Store& store, client::InProcess::Clock clock) : inner_(store, std::move(clock)) {}
  Result<client::Reply> send(kube::Request request) override;

  std::vector<std::string> writes;  // "create pods ns/j-worker-0"; Events aside
  int requests = 0;                 // of any kind, Events aside
  std::vector<std::string> events;  // "Normal SuccessfulCreatePod: Created pod: j-worker-0", each once
  // An error that is answered in place of carrying the request out.
  std::function<std::optional<Error>(const kube::Request&)> refuse;

 private:
  client::InProcess inner_;
};

class Yard {
 public:
  explicit Yard(dialect::Settings settings = {});
  Yard(const Yard&) = delete;
  Yard& operator=(const Yard&) = delete;

  // ---- what people do ----
  // Creates every document of the text. The last job becomes the one that is looked at.
  Yard& submit(const std::string& yaml);
  // A merge patch of the job.
  Yard& edit(const std::string& yaml);
  Yard& delete_job();
  // A Volcano Command for the job.
  Yard& command(std::string_view action);

  // ---- what machines do ----
  // "worker-0 Running; worker-* Succeeded; * Pending": each is seen in the same pass. Words:
  //   Pending [REASON] | Running | Ready | Succeeded | Failed [CODE] | Unknown
  //   Restarted N      running, restarted N times in place
  //   Evicted | Preempted | NodeLost
  //   leaves           somebody deletes it; it runs on until "gone"
  //   gone             it is no longer there, whatever it was
  //   dies CODE        ends with that code, and is gone before anybody could look
  Yard& let(std::string_view script);
  // The scheduler's word about the job's PodGroup.
  Yard& gang_is(std::string_view phase);
  Yard& after(int seconds);
  // Pods that are to go stay, terminating, until somebody says "gone".
  void slow_nodes() { nodes_are_slow_ = true; }
  // A new operator that knows nothing.
  Yard& restart_operator();
  // Runs until nothing moves any more.
  Yard& settle();

  // ---- what is to be seen ----
  std::string pods() const;        // "ps-0 Running, worker-0 Failed(137), worker-1 Pending@1"
  std::string services() const;    // "ps-0, worker-0"
  std::string conditions() const;  // "Created=True Running=False"
  // The condition as "True TFJobRunning: TFJob ns/j is running."; "" when there is none.
  std::string condition(std::string_view type) const;
  std::string replicas() const;  // "PS active=2, Worker active=3 failed=1"
  std::string phase() const;     // Volcano's status.state.phase
  std::string status(std::initializer_list<std::string_view> path) const;  // as JSON; "" when absent
  bool has_job() const;
  json::object job() const;
  json::object pod(std::string_view label) const;
  json::object service(std::string_view label) const;
  json::object pod_group() const;
  bool has_pod_group() const;
  std::string tf_config(std::string_view label) const;  // "" when there is none
  // Events whose line contains the text, oldest first, one per line.
  std::string events(std::string_view containing = "") const;
  // What the engine would do now, and what it waits for.
  model::Plan plan() const;
  // The sentence for a wait of this kind; "" when there is none.
  std::string waits(model::WaitKind kind) const;
  const control::OperatorCounts& counts() const { return operator_->counts(); }
  int64_t passes() const { return counts().passes; }
  // How many kinds the operator lists and watches.
  int streams() const { return static_cast<int>(operator_->streams().size()); }
  // How many writes the deed cost, Events aside.
  int cost_of(const std::function<void()>& deed);

  store::Store store;
  Time now;
  Tap tap;

 private:
  struct Line {
    bool open = false;
    kube::Request request;
    int64_t version = 0;
  };
  const dialect::Dialect& dialect() const;
  bool feed();
  bool work_of_nodes();
  void tell(const std::string& pod, const std::vector<std::string>& words);
  void write_status(const std::string& pod, json::object status);
  std::vector<std::string> chosen(std::string_view pattern) const;

  // Fixed.
  dialect::Settings settings_;
  std::vector<dialect::Dialect> dialects_;
  // State.
  std::unique_ptr<control::Operator> operator_;
  std::vector<Line> lines_;
  std::set<std::string> held_;  // uids of pods that stay until "gone"
  bool nodes_are_slow_ = false;
  control::JobKey key_;
};

}  // namespace trainyard::scenarios
