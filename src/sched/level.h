// Level: what the nodes hold at one moment, real or supposed: free amounts, host ports in use
// and pods near which others want to be or not to be. A value, changed by take and give.
// Invariant: give undoes take exactly.
#pragma once

#include <vector>

#include "sched/tables.h"

namespace trainyard::sched {

class Level {
 public:
  explicit Level(const Tables& tables);

  // REQUIRES: a node of the tables. Amounts may go below zero: the input may hold too much.
  void take(const Tables& tables, int node, int pod_class, int times);
  void give(const Tables& tables, int node, int pod_class, int times);

  const int64_t* free(int node) const { return &free_[static_cast<size_t>(node) * width_]; }

  // Nothing there minds the pod and it minds nothing there, resources and nearness apart.
  bool tolerates(const Tables& tables, int node, int pod_class) const;
  // The pods it wants to be near are there, or it is the first of their kind. `placed`: it
  // is counted already.
  bool is_near(const Tables& tables, int node, int pod_class, bool placed) const;
  // How many pods that match the term are in the node's domain.
  int matching_there(const Tables& tables, int term, int node) const;

 private:
  bool ports_free(const Tables& tables, int node, int pod_class) const;
  void count(const Tables& tables, int node, int pod_class, int by);

  size_t width_;
  std::vector<int64_t> free_;                        // node by node
  std::vector<std::vector<const HostPort*>> ports_;  // by node; empty when nobody asks for ports
  std::vector<std::vector<int>> matching_;           // term, domain -> pods that match
  std::vector<std::vector<int>> carrying_;           // term, domain -> pods that want to be apart by it
  std::vector<int> matching_anywhere_;               // term -> pods that match and have a domain
};

}  // namespace trainyard::sched
