// volumes: from the documents of claims, volumes and storage classes to where the pods that mount
// the claims may be. Pure.
//
// A claim that has no volume, of a class that waits for the first consumer, has sources: volumes
// that somebody made (of its class, modes and labels, and large enough; the smallest first, then those
// that fewer nodes reach, then by name), and rooms in which one is made for the pod's node. Which of
// them it gets is decided together with the node (volume_book.h).
//
// Where nobody makes volumes (a plane, whose claims are folders) claims are not waited for: they need
// not be there, and only a bound volume that names its nodes counts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/json.h"
#include "sched/cluster.h"

namespace trainyard::sched {

struct ClaimSeen {
  std::string key;  // "namespace/name"
  std::string ns;
  std::string name;
  std::string uid;
  std::string volume;  // "" while it has none
  std::string phase;
  std::string storage_class;
  std::string selected_node;                // for which its volume is being made
  int64_t size = 0;                         // bytes
  std::vector<std::string> modes;           // of access; sorted
  std::string volume_mode;                  // Filesystem or Block
  std::string attributes_class;             // volumeAttributesClassName
  std::vector<kube::Requirement> selector;  // the labels of volumes that will do
  bool is_bound() const { return !volume.empty() && phase == "Bound"; }
  bool operator==(const ClaimSeen&) const = default;
};
ClaimSeen see_claim(const json::object& claim);

struct VolumeSeen {
  std::string name;
  std::string uid;
  std::string phase;
  std::string claim;      // "namespace/name" of the claim that has it, or is to have it; "" free
  std::string claim_uid;  // "": whichever has the name
  std::string storage_class;
  int64_t size = 0;
  std::vector<std::string> modes;
  std::string volume_mode;
  std::string attributes_class;
  Labels labels;
  std::vector<NodeTerm> terms;  // one of them holds; empty: reachable everywhere
  bool deleting = false;
  bool operator==(const VolumeSeen&) const = default;
};
VolumeSeen see_volume(const json::object& volume);

struct ClassSeen {
  std::string name;
  std::string provisioner;
  bool waits_for_consumer = false;  // its volumes are chosen or made when a pod has a node
  std::vector<NodeTerm> terms;      // allowedTopologies
  bool provisions() const;          // false: somebody else has made them
  bool operator==(const ClassSeen&) const = default;
};
ClassSeen see_storage_class(const json::object& object);

// A CSIDriver.
struct DriverSeen {
  std::string name;
  bool tells_room = false;  // only where it says that there is room are its volumes made
  bool operator==(const DriverSeen&) const = default;
};
DriverSeen see_driver(const json::object& driver);

// A CSIStorageCapacity: what a driver can still make on some nodes.
struct RoomSeen {
  std::string key;  // "namespace/name"
  std::string storage_class;
  std::optional<std::vector<kube::Requirement>> nodes;  // absent: none
  int64_t largest = 0;                                  // of one volume; bytes
  int64_t total = 0;
  bool operator==(const RoomSeen&) const = default;
};
RoomSeen see_room(const json::object& room);

// What was decided for a claim and is not to be seen yet.
struct ClaimChoice {
  std::string volume;  // one that somebody made; "": one is made for the node
  std::string node;
  bool operator==(const ClaimChoice&) const = default;
};

// By reference: they outlive the call.
struct VolumeDocuments {
  std::vector<const ClaimSeen*> claims;
  std::vector<const VolumeSeen*> volumes;
  std::vector<const ClassSeen*> classes;
  std::vector<const DriverSeen*> drivers;
  std::vector<const RoomSeen*> rooms;
  std::vector<const Node*> nodes;
  std::map<std::string, ClaimChoice> choices;  // by claim
  bool waits_for_claims = true;
};

// A VolumeSource before nodes have numbers.
struct SourceFound {
  std::string volume;
  std::optional<std::vector<std::string>> nodes;  // sorted; absent: everywhere
  int64_t room = 0;
  bool operator==(const SourceFound&) const = default;
};

// A claim that gets its volume together with the nodes of the pods that mount it.
struct OpenClaim {
  std::string storage_class;
  int64_t size = 0;
  std::vector<int> sources;  // into VolumesFound::sources, the best first; at least one
  bool operator==(const OpenClaim&) const = default;
};

struct VolumesFound {
  // Where volumes can be reached, claim -> names of nodes, sorted; claims that are reachable
  // everywhere are left out.
  std::map<std::string, std::vector<std::string>> nodes;
  // Claims that are there, and why a pod that mounts it cannot have a node yet, "" when it can. Not
  // set: claims need neither be there nor be bound.
  std::optional<std::map<std::string, std::string>> troubles;
  std::map<std::string, OpenClaim> open;  // by claim
  std::vector<SourceFound> sources;
  bool operator==(const VolumesFound&) const = default;
};

VolumesFound find_volumes(const VolumeDocuments& documents);

}  // namespace trainyard::sched
