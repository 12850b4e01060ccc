// ClaimsSeen: what the scheduler has seen of claims, volumes, storage classes and the room that drivers tell
// of, and what follows from it (sched/volumes.h). Value; pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/watcher.h"
#include "control/sights.h"
#include "sched/gangs_from.h"
#include "sched/volumes.h"

namespace trainyard::control {

class ClaimsSeen {
 public:
  using Choices = std::map<std::string, sched::ClaimChoice>;  // by claim
  // A volume as it was when last seen.
  struct Volume {
    const sched::VolumeSeen* seen = nullptr;
    int64_t version = 0;
  };

  explicit ClaimsSeen(bool waits_for_claims);

  // What it follows, in the order of `stream` below.
  std::vector<kube::Resource> resources() const;
  bool synced() const;
  // Whether it may change a decision.
  bool take_in(int stream, const client::Output& output);

  void nodes_changed() { changed_ = true; }
  // To be called after what was taken in and before what follows is asked. `choices`: what was decided
  // and is not to be seen yet.
  void refresh(const std::map<std::string, Sights<sched::NodeSeen>::Sight, std::less<>>& nodes,
               Choices choices);
  const sched::VolumesFound& found() const { return found_; }
  const sched::ClaimSeen* find(const std::string& key) const;  // null when there is none
  std::optional<Volume> find_volume(const std::string& name) const;

 private:
  bool waits_for_claims_;
  Sights<sched::ClaimSeen> claims_;
  Sights<sched::VolumeSeen> volumes_;
  Sights<sched::ClassSeen> classes_;
  Sights<sched::DriverSeen> drivers_;
  Sights<sched::RoomSeen> rooms_;
  bool changed_ = true;
  Choices choices_;
  // Of the last refresh.
  std::map<std::string, const sched::ClaimSeen*> by_key_;
  std::map<std::string, Volume> by_name_;
  sched::VolumesFound found_;
};

}  // namespace trainyard::control
