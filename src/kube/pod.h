// Pod: what we read of a Pod, and nothing else. A value; decoding takes whatever is
// there and leaves a field at its default when it is absent or of a wrong type.
// Two decoders, one reading: from a document (Boost.JSON) and straight from the text of
// a watch stream (simdjson, a few microseconds).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/json.h"

namespace trainyard::kube {

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };
enum class ConditionStatus { kAbsent, kTrue, kFalse, kUnknown };
enum class ContainerStateKind { kWaiting, kRunning, kTerminated };

struct PodCondition {
  ConditionStatus status = ConditionStatus::kAbsent;
  std::string reason;
  std::string message;
  std::optional<Time> changed_at;  // lastTransitionTime

  bool is_true() const { return status == ConditionStatus::kTrue; }
  bool operator==(const PodCondition&) const = default;
};

// The end of one run of a container.
struct Termination {
  int32_t exit_code = 0;
  int32_t signal = 0;
  std::string reason;  // "Completed", "Error", "OOMKilled", ...
  std::string message;
  std::optional<Time> started_at;
  std::optional<Time> finished_at;

  bool operator==(const Termination&) const = default;
};

struct ContainerStatus {
  std::string name;
  ContainerStateKind state = ContainerStateKind::kWaiting;
  std::string reason;  // of the state: "ContainerCreating", "CrashLoopBackOff", "Error", ...
  std::string message;
  std::optional<Time> started_at;         // when running
  std::optional<Termination> terminated;  // when terminated
  std::optional<Termination> last_ended;  // lastState: how the run before this one ended
  int32_t restart_count = 0;
  bool ready = false;

  bool operator==(const ContainerStatus&) const = default;
};

struct Pod {
  std::string name;
  std::string ns;
  std::string uid;
  int64_t version = 0;                             // metadata.resourceVersion
  std::map<std::string, std::string> labels;       // all
  std::map<std::string, std::string> annotations;  // those that keeps_annotation() names
  std::string controller_uid;
  std::optional<Time> created_at;
  std::optional<Time> deleted_at;  // the deletion mark (metadata.deletionTimestamp)
  int32_t deletion_grace = 0;      // seconds; the deletion was asked for this long before deleted_at
  std::vector<std::string> finalizers;

  std::string node_name;
  std::string scheduler_name;
  std::string restart_policy;
  std::vector<std::string> scheduling_gates;
  std::vector<std::string> container_names;  // spec.containers, in order

  PodPhase phase = PodPhase::kPending;
  std::string reason;
  std::string message;
  std::string pod_ip;
  std::string host_ip;
  std::optional<Time> started_at;
  PodCondition ready;
  PodCondition scheduled;          // PodScheduled
  PodCondition disruption_target;  // DisruptionTarget
  std::vector<ContainerStatus> init_containers;
  std::vector<ContainerStatus> containers;

  bool is_deleting() const { return deleted_at.has_value(); }
  bool is_terminal() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
  std::string_view label(std::string_view key) const;       // "" when absent
  std::string_view annotation(std::string_view key) const;  // "" when absent
  // The status of the container of that name, null when there is none.
  const ContainerStatus* container(std::string_view container_name) const;
  bool operator==(const Pod&) const = default;
};

// Annotations are kept only for domains somebody here reads (ours, volcano's, the
// schedulers'): kubectl's last-applied copy alone would double a cache.
bool keeps_annotation(std::string_view key);

Pod decode_pod(const json::object& object);
// Without its labels, and of its annotations with this one alone: half the work, for who reads all pods.
Pod decode_pod_with(const json::object& object, std::string_view annotation);

// Decodes pods from text, reusing its memory. Owned by one thread at a time; not copied.
class PodDecoder {
 public:
  PodDecoder();
  ~PodDecoder();
  PodDecoder(const PodDecoder&) = delete;
  PodDecoder& operator=(const PodDecoder&) = delete;

  // kInvalid when the text is not one JSON object.
  Result<Pod> decode(std::string_view text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The same with a decoder made for this one call.
Result<Pod> decode_pod_text(std::string_view text);

// Whether the pod ended, or is about to, through no fault of its own: eviction, drain,
// preemption, node loss or shutdown, or a node that could not take it after all.
bool is_disrupted(const Pod& pod);

std::string_view name_of(PodPhase phase);
std::optional<PodPhase> pod_phase_of(std::string_view text);

}  // namespace trainyard::kube
