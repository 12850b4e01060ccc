// Scheduler: a model of the schedulers of a cluster. Pods that are on their own are
// bound after a while; members of a gang are bound together, once their PodGroup has
// been let in and enough of them are there. It lets PodGroups in after a while:
// Pending -> Inqueue -> Running. There is room for everybody in the end.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "sim/cluster.h"
#include "sim/options.h"

namespace trainyard::sim {

class Scheduler {
 public:
  Scheduler(Cluster& cluster, const Options& options, bool scripted);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // A listener of the cluster.
  void on_change(const Change& change);

 private:
  void plan_turn(Duration after);
  void turn();
  // A pod as a turn finds it; `bound` is set by the turn itself.
  struct Found {
    store::Object pod;
    std::string_view gang;
    bool bound = false;
    bool deleting = false;
  };
  std::vector<Found> find_pods() const;
  void admit_groups(const kube::Resource& resource, std::vector<Found>& pods);
  void bind_members(const json::object& group, std::vector<Found>& pods);
  void bind(Found& found);
  Duration some(int64_t low_ms, int64_t high_ms);

  // Fixed.
  Cluster& cluster_;
  const Options& options_;
  const bool scripted_;
  // State.
  Rng rng_;
  bool turn_planned_ = false;
  std::set<std::string> started_;  // uids of PodGroups that have had their place: they keep it
};

}  // namespace trainyard::sim
