// ClaimsSeen: what the scheduler has seen of claims, their volumes and classes: which nodes reach
// them, and which pods must wait because of them. Value; pure.
//
// Where nobody makes volumes (a plane, whose claims are folders) claims are not waited for: they need
// not be there, and only a bound volume that names its nodes counts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/watcher.h"
#include "control/sights.h"
#include "sched/gangs_from.h"

namespace trainyard::control {

struct ClaimSight {
  std::string key;  // "namespace/name"
  std::string ns;
  std::string name;
  std::string uid;
  std::string volume;  // "" while it has none
  std::string phase;
  std::string storage_class;
  std::string selected_node;  // for which its volume is being made
  bool is_bound() const { return !volume.empty() && phase == "Bound"; }
  bool operator==(const ClaimSight&) const = default;
};

struct VolumeSight {
  std::string name;
  std::vector<sched::NodeTerm> terms;  // one of them holds; empty: reachable everywhere
  bool operator==(const VolumeSight&) const = default;
};

struct ClassSight {
  std::string name;
  bool waits_for_consumer = false;     // its volumes are made when a pod has a node
  bool provisions = true;              // false: somebody else has made them
  std::vector<sched::NodeTerm> terms;  // allowedTopologies
  bool operator==(const ClassSight&) const = default;
};

class ClaimsSeen {
 public:
  explicit ClaimsSeen(bool waits_for_claims);

  // What it follows, in the order of `stream` below.
  std::vector<kube::Resource> resources() const;
  bool synced() const;
  // Whether it may change a decision.
  bool take_in(int stream, const client::Output& output);

  void nodes_changed() { changed_ = true; }
  // To be called after what was taken in and before what follows is asked.
  void refresh(const std::map<std::string, Sights<sched::NodeSeen>::Sight, std::less<>>& nodes);
  // As sched::Documents has them.
  const std::map<std::string, std::vector<std::string>>& nodes() const { return nodes_; }
  const std::optional<std::map<std::string, std::string>>& troubles() const { return troubles_; }

  const ClaimSight* find(const std::string& key) const;  // null when there is none
  // Whether its volume is made when a pod that mounts it has a node.
  bool waits_for_consumer(const ClaimSight& claim) const;

 private:
  const ClassSight* class_of(const ClaimSight& claim) const;
  std::string trouble_of(const ClaimSight& claim) const;
  void find_nodes(const ClaimSight& claim, const std::vector<const sched::Node*>& nodes);

  bool waits_for_claims_;
  Sights<ClaimSight> claims_;
  Sights<VolumeSight> volumes_;
  Sights<ClassSight> classes_;
  bool changed_ = true;
  // Of the last refresh.
  std::map<std::string, const ClaimSight*> by_key_;
  std::map<std::string, const VolumeSight*> volume_by_name_;  // those that name their nodes
  std::map<std::string, const ClassSight*> class_by_name_;
  std::map<std::string, std::vector<std::string>> nodes_;
  std::optional<std::map<std::string, std::string>> troubles_;
};

}  // namespace trainyard::control
