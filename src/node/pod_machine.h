// PodMachine: the life of one pod on this node, as a state machine without I/O: it is
// shown what runs and what time it is, and says what to do next and what the pod's status
// is. Time is a parameter; equal inputs give equal answers.
//
// What it must not lose is not kept here alone: containers that ran are remembered by the
// runtime, and what the pod's status said is taken up again by a new machine, so a node
// that comes back starts nothing twice.
//
//   prepare -> init containers one by one -> containers -> [restarts] -> ended -> finish
//   deletion or a deadline: stop everything (preStop, SIGTERM, grace, SIGKILL) -> ended
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/json.h"
#include "node/pod_resize.h"
#include "node/runtime.h"

namespace trainyard::node {

inline constexpr Duration kBackOffFirst{10'000};
inline constexpr Duration kBackOffMax{300'000};
inline constexpr Duration kBackOffForgotten{600'000};  // a run this long starts the count anew
inline constexpr Duration kStartRetry{10'000};         // after a start that could not be planned
inline constexpr int64_t kGraceSecondsDefault = 30;

enum class CheckKind { kPostStart, kPreStop, kStartup, kReadiness, kLiveness };
std::string_view name_of(CheckKind kind);  // "PostStart", ..., "Liveness"

// Makes what the pod's containers share: volumes, network.
struct PreparePod {
  bool operator==(const PreparePod&) const = default;
};
struct StartContainer {
  std::string name;
  int attempt = 0;
  bool operator==(const StartContainer&) const = default;
};
struct SignalContainer {
  std::string name;
  int attempt = 0;
  int signal = 0;
  bool operator==(const SignalContainer&) const = default;
};
// A hook or a probe; answered with on_check().
struct RunCheck {
  std::string name;
  int attempt = 0;
  CheckKind kind = CheckKind::kLiveness;
  json::object what;  // {exec}, {httpGet}, {tcpSocket}, {sleep}
  Duration timeout{1000};
  bool operator==(const RunCheck&) const = default;
};
// Gives a container that runs other resources; answered with on_resized().
struct ResizeContainer {
  std::string name;
  int attempt = 0;
  json::object resources;  // {requests, limits}
  bool operator==(const ResizeContainer&) const = default;
};
struct RemoveContainer {
  std::string name;
  int attempt = 0;
  bool operator==(const RemoveContainer&) const = default;
};
// Nothing runs and nothing will: what the pod held is given back. After the status is written.
struct FinishPod {
  bool operator==(const FinishPod&) const = default;
};
// The object may go. After the status is written.
struct DeletePod {
  bool operator==(const DeletePod&) const = default;
};
using Action = std::variant<PreparePod, StartContainer, SignalContainer, RunCheck, ResizeContainer,
                            RemoveContainer, FinishPod, DeletePod>;

struct PodEvent {
  bool warning = false;
  std::string reason;
  std::string message;
  bool operator==(const PodEvent&) const = default;
};

struct Decision {
  std::vector<Action> actions;  // in order
  json::object status;          // of the pod, whole
  std::optional<Time> wake;
  std::vector<PodEvent> events;
};

// What the machine is shown.
struct PodView {
  const json::object& pod;
  std::vector<ContainerStatus> containers;        // of this pod, every attempt the runtime knows
  std::map<ContainerId, std::string> last_words;  // termination messages of ended ones
  std::string pod_ip;                             // "" until prepared
  std::string host_ip;
  std::string runtime;  // its name, for container ids
  Time now;
  Allocation allocated = {};  // by this node; a container that is not there has what its spec asks for
  ResizeVerdict resize = {};  // of what the spec asks for and is not allocated
  Enforced enforced;          // by the runtime
};

// ---- what a machine remembers: see pod_machine.cc -----------------------------------

struct ProbeMemory {
  std::optional<Time> next;
  bool under_way = false;
  int successes = 0;
  int failures = 0;
};

struct StopMemory {
  Time kill_at;
  bool hook_done = false;  // or there is none
  bool hook_asked = false;
  bool term_sent = false;
  bool kill_sent = false;
};

struct ContainerMemory {
  int attempt = 0;     // the one that is, or is about to be
  bool asked = false;  // its start has been asked for
  int crashes = 0;     // restarts since the count was begun anew
  std::optional<Time> start_after;
  std::string waiting_reason;  // why it is not started; "" for ContainerCreating
  std::string waiting_message;
  bool post_start_asked = false;
  bool post_start_done = false;
  bool post_start_failed = false;
  bool started = false;  // the startup probe is through, or there is none
  bool ready = false;
  std::map<CheckKind, ProbeMemory> probes;
  std::optional<StopMemory> stop;
  std::optional<json::object> applied;  // the resources that the attempt was given
  bool restarts_for_resize = false;     // it is stopped to be started with others
  std::optional<Time> resize_after;     // after a resize that failed
  std::string resize_error;
};

class PodMachine {
 public:
  Decision step(const PodView& view);

  // Answers to actions.
  void on_prepared(const Result<std::string>& ip, Time now);  // the pod's IP
  // The start of a container goes on with its image, which is on this machine or is stood in for (id "").
  void on_image(const std::string& name, std::string_view image, std::string id);
  // `reason` of a failure: CreateContainerConfigError, CreateContainerError, ErrImagePull, ...
  void on_started(const std::string& name);
  void on_start_failed(const std::string& name, std::string reason, std::string message, Time now);
  void on_resized(const ResizeContainer& what, const Result<Done>& done, Time now);
  void on_check(const std::string& name, int attempt, CheckKind kind, bool ok, const std::string& words);
  // The node ends the pod: it does not fit, or must go.
  void evict(std::string reason, std::string message);

  bool finished() const { return finished_; }
  // The attempt that is, or is about to be.
  int attempt_of(const std::string& container) const;

 private:
  struct Part;  // one container of the pod, with all that is known of it

  void take_up(const PodView& view);
  std::vector<Part> parts(const PodView& view);
  Part part_of(const json::object& spec, const PodView& view);
  void note_ends(std::vector<Part>& parts, const PodView& view);
  void note_end(Part& part, const PodView& view);
  bool wants_restart(const Part& part, const PodView& view, bool main_left) const;
  void drive(std::vector<Part>& parts, const PodView& view, Decision& decision);
  void start_due(Part& part, const PodView& view, Decision& decision);
  void stop_all(std::vector<Part>& parts, const PodView& view, Decision& decision);
  void begin_stop(Part& part, Time now, int64_t grace_seconds, const std::string& why);
  void drive_stop(Part& part, const PodView& view, Decision& decision);
  void drive_alive(Part& part, const PodView& view, Decision& decision);
  void judge_probes(Part& part, const PodView& view);
  void drive_probe(Part& part, CheckKind kind, const PodView& view, Decision& decision);
  // Resources (pod_resizing.cc).
  static bool is_resizing(const Part& part, const PodView& view);
  void recall_resources(const json::object& status);
  void note_resources(std::vector<Part>& parts, const PodView& view);
  void drive_resize(Part& part, const PodView& view, Decision& decision);
  void tell_resize(bool under_way);
  void prune(const std::vector<Part>& parts, const PodView& view, Decision& decision) const;
  bool is_over(const std::vector<Part>& parts) const;
  void check_deadline(const PodView& view, Decision& decision);
  struct Summary;
  Summary sum_up(const std::vector<Part>& parts, const PodView& view) const;
  json::array conditions_of(const Summary& sum, const PodView& view) const;
  static void add_resize_conditions(const Summary& sum, const PodView& view, json::array& conditions);
  json::object status_of(const std::vector<Part>& parts, const PodView& view) const;

  std::map<std::string, ContainerMemory> memory_;
  std::vector<ContainerStatus> recalled_;                   // from the status, of what the runtime has lost
  std::map<std::string, json::object> recalled_resources_;  // from the status, of what ran
  std::map<std::string, std::string> image_ids_;            // of containers that were started
  bool was_resizing_ = false;
  std::optional<Time> deletion_seen_;
  std::optional<Time> start_time_;
  std::optional<std::pair<std::string, std::string>> ending_;  // reason, message
  std::optional<Time> prepare_after_;
  std::string prepare_error_;  // why the pod has not been prepared; what its containers wait for
  bool prepare_asked_ = false;
  bool prepared_ = false;
  bool taken_up_ = false;
  bool finished_ = false;
  std::vector<PodEvent> events_;  // to be told with the next step
};

// How long after its n-th crash in a row a container is started again; 0 for the first.
Duration back_off_after(int crashes);

}  // namespace trainyard::node
