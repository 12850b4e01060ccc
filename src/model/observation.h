// Observation: everything one pass may know about a job, as values. No pointers, no
// clock, no dialect fields. Pods are sorted by id, then name; foreign objects (whose
// controller is not this job) are left out before this is built.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/job_spec.h"
#include "model/job_state.h"

namespace trainyard::model {

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

enum class ContainerPhase { kWaiting, kRunning, kTerminated };

struct ContainerSeen {
  std::string name;
  ContainerPhase phase = ContainerPhase::kWaiting;
  std::optional<int> exit_code;
  std::string reason;
  std::string message;

  bool operator==(const ContainerSeen&) const = default;
};

struct PodSeen {
  ReplicaId id;  // role is -1 when the spec has no such role any more
  std::string name;
  std::string uid;
  int attempt = 0;
  PodPhase phase = PodPhase::kPending;
  bool terminating = false;
  // Its deletion had been asked for before it ended: how it ended says nothing.
  bool deleted_first = false;
  // Already deleted from the store; kept because how it ended is not yet recorded.
  bool gone = false;
  bool ready = false;
  bool scheduled = false;
  bool disrupted = false;
  std::optional<int> exit_code;  // of the main container, once it has ended
  int restarts = 0;              // in place, all containers together
  std::optional<Time> finished_at;
  std::optional<Time> created_at;
  std::string reason;  // the pod's own words about its state
  std::string message;
  std::vector<ContainerSeen> containers;

  bool operator==(const PodSeen&) const = default;
};

struct ServiceSeen {
  ReplicaId id;  // role is -1 when the spec has no such role any more
  std::string name;
  std::string uid;

  bool operator==(const ServiceSeen&) const = default;
};

struct CompanionSeen {
  CompanionKind kind = CompanionKind::kConfigMap;
  std::string name;
  std::string uid;
  uint64_t digest = 0;
  bool owned = true;

  bool operator==(const CompanionSeen&) const = default;
};

enum class GangPhase { kPending, kAdmitted, kRunning, kLost };

struct GangSeen {
  std::string uid;
  bool owned = true;
  GangPhase phase = GangPhase::kPending;
  Gang spec;            // as stored: min_member, per role, resources, queue, priority
  std::string message;  // the scheduler's own words

  bool operator==(const GangSeen&) const = default;
};

struct TensorBoardSeen {
  std::string name;
  std::string uid;
  bool ready = false;

  bool operator==(const TensorBoardSeen&) const = default;
};

// A request of a person's that is an object of its own (Volcano's Command).
struct CommandSeen {
  std::string name;
  std::string uid;
  Action action;

  bool operator==(const CommandSeen&) const = default;
};

struct Observation {
  JobSpec spec;
  JobState state;
  bool deleting = false;
  bool has_finalizer = false;
  std::vector<PodSeen> pods;
  std::vector<ServiceSeen> services;      // per replica only; sorted by id, then name
  std::vector<CompanionSeen> companions;  // sorted by kind, then name
  std::optional<GangSeen> gang;
  std::optional<TensorBoardSeen> tensorboard;
  std::vector<CommandSeen> commands;  // oldest first
};

}  // namespace trainyard::model
