// Placement: which node each waiting pod gets. Pure function of the pods and nodes seen.
// First come, first served, each pod alone: a pod that does not fit waits and holds up
// nobody. A node takes a pod when its labels match the pod's nodeSelector, it is not
// cordoned, and what the pod asks for is free: cpu (unless overcommitted), memory, pods and
// every extended resource (nvidia.com/gpu).
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "kube/json.h"
#include "kube/quantity.h"

namespace trainyard::control {

using Resources = std::map<std::string, kube::Quantity, std::less<>>;

// What a pod asks for: the sum of its containers or the largest init container, whichever
// is more; a limit stands for a request that is not there. "pods" is always 1.
Resources requests_of(const json::object& pod);

struct PlacementOptions {
  bool overcommit_cpu = false;  // cpu requests are shares, not claims
};

struct Bind {
  std::string node;
  bool operator==(const Bind&) const = default;
};
// In the words of a scheduler: "0/1 nodes are available: 1 Insufficient cpu (wants 4, 2 free)."
struct Wait {
  std::string message;
  bool operator==(const Wait&) const = default;
};
struct Placed {
  std::string ns;
  std::string pod;
  std::string uid;
  std::variant<Bind, Wait> where;
  bool operator==(const Placed&) const = default;
};

// One answer per pod that has no node, is not being deleted, has not ended and is held by no
// scheduling gate; in the order they were created. `assumed`: pod uid -> the node it was given
// although the pod seen does not show it yet.
std::vector<Placed> place(const std::vector<const json::object*>& pods,
                          const std::vector<const json::object*>& nodes,
                          const std::map<std::string, std::string>& assumed, const PlacementOptions& options);

}  // namespace trainyard::control
