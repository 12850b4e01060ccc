// Standing: what a pass begins with, as sums: what is free on the nodes, what each queue's gangs hold, and
// which gangs are open: ask for something, or change by themselves. The others are settled: a pass in which
// nobody needs their place looks at none of them. Made of a cluster and its gangs, or followed change by
// change (kept_snapshot.h): the two are alike. Refers to the cluster; gangs are known by their place.
//
// REQUIRES: a gang is what it was when it was added, until it is removed. Ids are unique.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sched/gang.h"
#include "sched/level.h"
#include "sched/needs.h"
#include "sched/tables.h"

namespace trainyard::sched {

class Standing {
 public:
  using Gangs = std::span<const Gang>;

  Standing(const Cluster& cluster, Gangs gangs);
  Standing(const Standing&) = delete;
  Standing& operator=(const Standing&) = delete;

  const Tables& tables() const { return tables_; }
  const Level& now() const { return now_; }
  // What gangs of the queue hold, those that leave included; -1: of no queue, and pods of others.
  const Amounts& held_by_queue(int q) const { return of_queues_[static_cast<size_t>(q) + 1]; }
  const std::vector<int>& by_id() const { return by_id_; }
  const std::vector<int>& open() const { return open_; }  // by id, too
  int queue_of(int g) const { return facts_[static_cast<size_t>(g)].queue; }
  int pods_held(int g) const { return facts_[static_cast<size_t>(g)].pods_held; }
  size_t gangs() const { return facts_.size(); }
  int find(Gangs gangs, std::string_view id) const;  // -1 when there is none

  // Takes in the classes that the cluster has gained. False: it has to be made anew.
  bool follow() { return tables_.follow(); }
  // The gang at that place, in the room of one that was removed, or one after the last.
  void add(Gangs gangs, int g);
  void remove(Gangs gangs, int g);
  // The last one, which is still there, is from now on at that place, of one that was removed.
  void move_last(Gangs gangs, int to);
  void add_other(const OtherPod& pod) { count_other(pod, 1); }
  void remove_other(const OtherPod& pod) { count_other(pod, -1); }

 private:
  struct Facts {
    int queue = -1;
    int pods_held = 0;
    bool open = false;
  };

  Facts read(Gangs gangs, int g);
  void count(const Gang& gang, int q, int times);
  void count_other(const OtherPod& pod, int times);
  void hold(int node, int pod_class, int q, int times);

  Tables tables_;
  Level now_;
  std::vector<Amounts> of_queues_;  // the first: of none
  std::vector<Facts> facts_;        // by gang
  std::vector<int> by_id_;
  std::vector<int> open_;
};

}  // namespace trainyard::sched
