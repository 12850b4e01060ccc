// What a declared, simulated node does: how its Node object looks, and what becomes of a pod
// that is bound to it. Pure; level, not edge: everything is read off the objects.
//
// A Node is simulated when it has the label trainyard.dev/simulated: "true". Its status.capacity
// says what it has (8 cpu, 32Gi, 110 pods where it says nothing). A pod on it runs until it
// is deleted, or ends as its annotations say:
//   trainyard.dev/simulated-seconds    so long after its start, a whole number
//   trainyard.dev/simulated-exit-code  with this code, 0 to 255 (0)
// Its restart policy is kept as a kubelet keeps it: a container is started again in place.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"
#include "kube/json.h"

namespace trainyard::control {

inline constexpr std::string_view kSimulatedLabel = "trainyard.dev/simulated";
inline constexpr std::string_view kSimulatedSeconds = "trainyard.dev/simulated-seconds";
inline constexpr std::string_view kSimulatedExitCode = "trainyard.dev/simulated-exit-code";

bool is_simulated(const json::object& node);
// A node that somebody marked as not ready is silent: nothing starts, ends or goes on it.
bool is_silent(const json::object& node);

// The status that the node should have; nullopt when it has it. A Ready condition that is there
// stays as it is: so a node is made to fail.
std::optional<json::object> simulated_node_status(const json::object& node, Time now);

struct SimulatedPlan {
  std::optional<json::object> status;  // to be written
  bool remove = false;                 // it was asked to go: it goes
  std::optional<Time> wake;            // when to look again though nothing changes
};
// REQUIRES: the pod is bound to a simulated node that is not silent.
SimulatedPlan plan_simulated_pod(const json::object& pod, Time now);
// Of a pod whose node does not exist any more: it fails, through no fault of its own, and goes.
SimulatedPlan plan_orphan(const json::object& pod, Time now);

}  // namespace trainyard::control
