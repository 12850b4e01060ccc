// Resizing of pods in place: what the containers of a pod ask for (its spec), what this node has
// set aside for them (allocated), and what those that run were given (applied). Pure.
//
// A change of the spec becomes allocated when it fits beside the other pods; that is told in the
// pod's status, and only then given to the containers that run: in place, or by starting them again
// where their resizePolicy asks for it. So a node that is killed in between finds in the status what
// it had promised, and does the rest.
#pragma once

#include <map>
#include <string>

#include "kube/json.h"
#include "node/pod_plan.h"
#include "node/runtime.h"

namespace trainyard::node {

// {requests, limits} by the name of the container: of containers and sidecars.
using Allocation = std::map<std::string, json::object, std::less<>>;

Allocation wanted_of(const json::object& pod);
// What an earlier life of the node had set aside, as the status tells it; what the spec asks for
// where it tells nothing.
Allocation allocated_of(const json::object& pod);
// The pod with what is allocated in place of what it asks for.
json::object with_allocation(json::object pod, const Allocation& allocated);
// By amount: "1" and "1000m" are the same.
bool are_same_resources(const json::object& a, const json::object& b);
bool are_same_resources(const Allocation& a, const Allocation& b);

enum class ResizeState { kNone, kFits, kDeferred, kInfeasible };
struct ResizeVerdict {
  ResizeState state = ResizeState::kNone;
  std::string message;  // of the last two
  bool operator==(const ResizeVerdict&) const = default;
};
// "Deferred", "Infeasible"; "" for the others.
std::string_view name_of(ResizeState state);

struct ResizeQuestion {
  Requests wanted;
  Requests held;      // by the pod now
  Requests used;      // by the others
  Requests capacity;  // of the node
  bool overcommits_cpu = false;
};
// Only what grows must fit: what a pod gives back is always taken.
ResizeVerdict judge_resize(const ResizeQuestion& question);

// How a container that runs comes to other resources. A request of memory binds nobody and needs
// nothing to be done.
enum class ResizeWay { kNone, kInPlace, kRestart };
ResizeWay way_of_resize(const json::object& container, const json::object& applied,
                        const json::object& allocated);

}  // namespace trainyard::node
