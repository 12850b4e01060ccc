// VolumeBook: which volumes the claims of placed pods have, at each level of a State. Owned by it.
//
// A claim gets the first of its sources that is free in all levels in question and reached from the pod's
// node. It keeps it while any pod that mounts it is placed, so that all of them have to reach it.
// Invariant: give undoes take exactly.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sched/tables.h"

namespace trainyard::sched {

class VolumeBook {
 public:
  static constexpr size_t kLevels = 4;

  explicit VolumeBook(const Tables& tables);

  // The level `to` becomes as `from` is.
  void copy(size_t from, size_t to);
  // Whether the pod would find volumes on the node, in all levels of the mask.
  bool has_for(unsigned mask, int node, int pod_class) const;
  // A pod for which there are none holds none: it may have been put there by others.
  void take(unsigned mask, int node, int pod_class, int times);
  void give(unsigned mask, int pod_class, int times);

  // What the claim has at the level: into Cluster::sources, -1 nothing.
  int source_at(size_t level, int claim) const { return levels_[level][static_cast<size_t>(claim)].source; }
  bool is_free(size_t level, int source) const;

 private:
  struct Held {
    int source = -1;
    int pods = 0;
  };
  struct Taken {  // of a source
    int claims = 0;
    int64_t bytes = 0;
  };
  using Choice = std::pair<int, int>;  // claim, source

  bool reaches(int source, int node) const;
  // The source that it has or would get; -1 none. `also`: what other claims of the same pod get.
  int choose(unsigned mask, int node, int claim, const std::vector<Choice>& also) const;
  bool is_free_in(size_t level, int source, int64_t size, const std::vector<Choice>& also) const;
  std::vector<Choice> choices(unsigned mask, int node, int pod_class) const;

  const Tables& tables_;
  std::vector<std::vector<int>> nodes_;            // by source: ranks, sorted
  std::array<std::vector<Held>, kLevels> levels_;  // by claim
  std::array<std::vector<Taken>, kLevels> taken_;  // by source
};

}  // namespace trainyard::sched
