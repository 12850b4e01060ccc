// Place: finds nodes for members of a gang, in the levels of the State that are in use. A
// transaction: either everything needed is placed and taken from the State, or nothing is.
//
// Equal members are placed together, large ones first, on the most liked nodes with room. When
// that fails for a gang of unequal members, a search with a bounded number of steps looks at
// the other ways, members that may be left out included.
#pragma once

#include <optional>
#include <vector>

#include "sched/decisions.h"
#include "sched/gang.h"
#include "sched/needs.h"
#include "sched/node_view.h"
#include "sched/state.h"

namespace trainyard::sched {

struct Spot {
  int member = 0;
  int node = 0;  // rank
  bool operator==(const Spot&) const = default;
};
using Spots = std::vector<Spot>;  // by member

// Members of one gang with the same class and role, in order.
struct Batch {
  int pod_class = 0;
  int role = 0;
  std::vector<int> members;
};

class Placer {
 public:
  Placer(const Tables& tables, State& state, NodeViews& views, const Policy& policy);

  // All that the gang needs to be whole. `queue`: index, -1 for none.
  std::optional<Spots> place_needed(const Gang& gang, const Needs& needs, int queue);
  // As many of these as fit, each for itself. `already`: where others of the gang were just placed.
  Spots place_extra(const Gang& gang, const std::vector<int>& members, int queue, const Spots& already);

 private:
  friend class Search;
  struct Frame;  // one call: the gang, its queue, the domain it is kept to

  std::optional<Spots> place_in(const Frame& frame, const Needs& needs);
  bool place_greedily(const Frame& frame, const Needs& needs, const std::vector<Batch>& batches, Spots& spots,
                      bool& hopeless);
  int place_batch(const Frame& frame, const Batch& batch, size_t skip, int wanted, Spots& spots);
  int pack(const Frame& frame, const Batch& batch, size_t skip, int wanted, Spots& spots);
  int spread(const Frame& frame, const Batch& batch, size_t skip, int wanted, Spots& spots);
  int choose_best(const Frame& frame, const Batch& batch, size_t skip, int wanted, Spots& spots);
  // Each of them that wants to be near others is, all of them counted: they come at once.
  bool all_near(const Gang& gang, const Spots& spots) const;
  std::vector<Batch> batches_of(const Gang& gang, const std::vector<int>& members) const;
  void large_first(std::vector<Batch>& batches) const;
  std::vector<int> domains_to_try(const Gang& gang, const Needs& needs, const Domains& domains) const;

  const Tables& tables_;
  State& state_;
  NodeViews& views_;
  const Policy& policy_;
  int steps_left_;
};

}  // namespace trainyard::sched
