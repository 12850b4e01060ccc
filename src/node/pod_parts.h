// What the files of the pod machine share: one container of a pod with all that is known
// of it, and small readings of its spec. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/access.h"
#include "node/pod_machine.h"

namespace trainyard::node {

struct PodMachine::Part {
  const json::object* spec = nullptr;
  std::string name;
  bool init = false;
  bool sidecar = false;  // an init container that stays
  bool debug = false;    // added to look into the pod: started once, and the pod fares without it
  ContainerMemory* memory = nullptr;
  const ContainerStatus* current = nullptr;   // of memory->attempt
  const ContainerStatus* previous = nullptr;  // of the attempt before

  // What the pod is for.
  bool is_main() const { return !init && !debug; }
  // It runs or is about to: it must be stopped before the pod can end.
  bool alive() const { return current != nullptr && current->phase != ContainerPhase::kExited; }
  bool running() const { return current != nullptr && current->phase == ContainerPhase::kRunning; }
  bool ended() const { return current != nullptr && current->phase == ContainerPhase::kExited; }
  bool ended_well() const { return ended() && current->exit_code == 0; }
  bool is_ready() const { return running() && memory->ready; }
  // Something of it has run, whatever is next.
  bool has_run() const { return running() || ended() || previous != nullptr; }
};

std::string_view restart_policy_of(const json::object& pod);  // "Always" by default
bool is_sidecar(const json::object& container);
const json::object* probe_of(const json::object& container, CheckKind kind);
int64_t grace_of(const json::object& pod);  // in seconds
// What the node has set aside for a container: {requests, limits}.
json::object allocated_for(const PodView& view, const json::object& container);
// The decision is to be made anew at that time at the latest.
void wake_at(Decision& decision, Time time);
// "name_ns(uid)", as a kubelet writes it.
std::string pod_in_words(const json::object& pod);
bool is_terminal_phase(std::string_view phase);

}  // namespace trainyard::node
