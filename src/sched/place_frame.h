// Placer::Frame: what one call of the placer is about. For place.cc and search.cc alone.
#pragma once

#include "sched/place.h"

namespace trainyard::sched {

struct Placer::Frame {
  const Gang& gang;
  int queue = -1;
  const Domains* domains = nullptr;
  int domain = -1;  // kept to this one; -1: anywhere

  bool contains(int node) const {
    return domain < 0 || domains->of_node[static_cast<size_t>(node)] == domain;
  }
};

// The search over all ways to place a small gang; see place.h.
class Search {
 public:
  Search(Placer& placer, const Placer::Frame& frame, const Needs& needs, const std::vector<Batch>& batches,
         int steps_max);

  bool run();
  const Spots& spots() const { return spots_; }
  int steps() const { return steps_; }

 private:
  // Decides on member `at` of batch `b`; its nodes are looked at from position `from` on.
  bool go_on(size_t b, size_t at, int from);
  bool try_nodes(size_t b, size_t at, int from);
  bool enough_left(size_t b, size_t at) const;

  Placer& placer_;
  const Placer::Frame& frame_;
  const std::vector<Batch>& batches_;
  int steps_max_;
  int steps_ = 0;
  int total_left_;
  std::vector<int> role_left_;
  Spots spots_;
};

inline constexpr size_t kSearchMembersMax = 64;

}  // namespace trainyard::sched
