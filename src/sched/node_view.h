// NodeView: the nodes that may take one sort of pod, the most liked first, with an index over
// what is free on them: blocks of nodes with the most that any of them has. Finding the next
// node with room skips whole blocks. Follows the State by itself. Owned by one pass.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "sched/state.h"

namespace trainyard::sched {

class NodeView {
 public:
  NodeView(const Tables& tables, const NodeRule& rule, const Queue* queue, const Amounts& requests);

  int size() const { return static_cast<int>(order_.size()); }
  int node_at(int position) const { return order_[static_cast<size_t>(position)]; }
  // The first position from `from` on whose node has room for one pod; size() when none has.
  int next(const State& state, const std::vector<Need>& needs, int from);

 private:
  void follow(const State& state);
  void measure(const State& state, size_t block);

  size_t width_;
  std::vector<int> order_;
  std::vector<int> position_;  // by node; -1 when it is not among them
  std::vector<int64_t> most_;  // block by block
  std::vector<bool> stale_;
  uint64_t upheavals_ = 0;
  size_t touched_ = 0;
};

// The views of a pass, made when first asked for.
class NodeViews {
 public:
  explicit NodeViews(const Tables& tables) : tables_(tables) {}
  // `queue`: its index in the cluster, -1 for none.
  NodeView& of(int pod_class, int queue);
  // Lets go of them when there are too many. Ends every reference that `of` gave.
  void trim();

 private:
  using Key = std::tuple<int, int, uint64_t>;  // node rule, queue with a node selector, scarce resources

  const Tables& tables_;
  std::map<Key, NodeView> views_;
};

}  // namespace trainyard::sched
