// Level: what the nodes hold at one moment, real or supposed: free amounts, host ports in use
// and pods near which others want to be or not to be. A value, changed by take and give.
// Invariant: give undoes take exactly.
#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "sched/tables.h"

namespace trainyard::sched {

// What keeps a pod from a node that has room for it.
struct Hindrance {
  enum class By {
    kPort,    // one of its host ports is in use
    kApart,   // pods there that it wants to be apart from
    kMinded,  // pods there that want to be apart from such as it
    kFar,     // the pods that it wants to be near are elsewhere
    kNobody,  // there are none that it wants to be near
  };
  By by = By::kPort;
  int which = 0;  // of the ports of its class; else into Cluster::pod_terms
  auto operator<=>(const Hindrance&) const = default;
};

class Level {
 public:
  explicit Level(const Tables& tables);

  // REQUIRES: a node of the tables. Amounts may go below zero: the input may hold too much.
  void take(const Tables& tables, int node, int pod_class, int times);
  void give(const Tables& tables, int node, int pod_class, int times);

  const int64_t* free(int node) const { return &free_[static_cast<size_t>(node) * width_]; }

  // Nothing there minds the pod and it minds nothing there, resources and nearness apart.
  bool tolerates(const Tables& tables, int node, int pod_class) const {
    return !disturbed(tables, node, pod_class);
  }
  // The pods it wants to be near are there, or it is the first of their kind. `placed`: it
  // is counted already.
  bool is_near(const Tables& tables, int node, int pod_class, bool placed) const {
    return !lonely(tables, node, pod_class, placed);
  }
  // Why one of the two does not hold, for a pod that is not counted yet.
  std::optional<Hindrance> hindrance(const Tables& tables, int node, int pod_class) const;
  bool has_any(int term) const { return matching_anywhere_[static_cast<size_t>(term)] > 0; }
  // How many pods that match the term are in the node's domain.
  int matching_there(const Tables& tables, int term, int node) const;

 private:
  std::optional<Hindrance> disturbed(const Tables& tables, int node, int pod_class) const;
  std::optional<Hindrance> lonely(const Tables& tables, int node, int pod_class, bool placed) const;
  // The first of the class's ports that is in use; -1: none.
  int port_in_use(const Tables& tables, int node, int pod_class) const;
  void count(const Tables& tables, int node, int pod_class, int by);

  size_t width_;
  std::vector<int64_t> free_;                        // node by node
  std::vector<std::vector<const HostPort*>> ports_;  // by node; empty when nobody asks for ports
  std::vector<std::vector<int>> matching_;           // term, domain -> pods that match
  std::vector<std::vector<int>> carrying_;           // term, domain -> pods that want to be apart by it
  std::vector<int> matching_anywhere_;               // term -> pods that match and have a domain
};

}  // namespace trainyard::sched
