// Blueprint: a job as a user of the simulated world has it in mind, in one of the three
// dialects, and the manifest it is written as. It has a text form of one line, for
// scenarios and traces:
//
//   tfjob train worker=2 ps=1 restart=ExitCode backoff=3 clean=All ttl=30
//
// This is not a dialect and knows nothing of the engine: the checkers compare what
// happened with it. Pure values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "kube/json.h"
#include "kube/meta.h"

namespace trainyard::sim {

enum class Kind { kTfJob, kT9k, kVolcano };

const kube::Resource& resource_of(Kind kind);

struct BlueprintRole {
  std::string name;  // chief, ps, worker, evaluator
  int replicas = 1;

  bool operator==(const BlueprintRole&) const = default;
};

// "PodFailed:RestartJob" or "137:RestartTask": a Volcano policy of the job.
struct BlueprintPolicy {
  std::string on;
  std::string action;

  bool operator==(const BlueprintPolicy&) const = default;
};

struct Blueprint {
  Kind kind = Kind::kTfJob;
  std::string name = "train";
  std::vector<BlueprintRole> roles;
  std::string restart;  // Never, OnFailure, Always, ExitCode; "" is left out
  std::optional<int> backoff;
  std::string clean;  // as the dialect spells it; "" is left out
  std::optional<int> ttl;
  std::optional<int> deadline;
  bool suspended = false;
  bool all_workers = false;  // TFJob's successPolicy
  bool dynamic = false;      // TFJob's enableDynamicWorker
  bool gang = false;         // a PodGroup (Volcano's jobs always have one)
  bool hold = false;         // our finalizer
  std::string scope;         // trainyard.dev/restart-scope
  std::vector<BlueprintPolicy> policies;
  std::optional<int> min_available;
  std::optional<int> min_success;
  bool board = false;       // T9k: a TensorBoard
  bool keys = false;        // Volcano's ssh plugin: a Secret
  int cpu = 0;              // what each pod asks for; 0: nothing
  bool host_ports = false;  // each worker wants the same port of its node
  std::string queue;        // of the gang; "" is left out
  std::string priority;     // the gang's PriorityClass; "" is left out
  bool invalid = false;     // something in it that validation refuses

  bool operator==(const Blueprint&) const = default;
  int total_replicas() const;
  const BlueprintRole* role(std::string_view role_name) const;
};

// REQUIRES: the text is well formed (it is ours): CHECKed.
Blueprint parse_blueprint(std::string_view text);
std::string to_string(const Blueprint& blueprint);

// The whole object as a user would apply it.
json::object manifest_of(const Blueprint& blueprint);

// A job that suits a random world.
Blueprint random_blueprint(Rng& rng, Kind kind, std::string name, int replicas_max);
// The same job where room is short: what its pods ask for, and mostly a gang in a queue.
void crowd(Rng& rng, Blueprint& blueprint);

}  // namespace trainyard::sim
