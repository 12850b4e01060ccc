// State: the working snapshot of a pass, with undo. It knows the cluster at up to four
// moments (levels) and looks at those the current question is about:
//   now     what is there
//   soon    without the pods that are leaving, with those that get their room
//   shadow  without the gangs that must end before the reserved gang starts, with that gang
//   empty   without any gang: what could ever be
// A pod that is bound now must fit now, soon and in the shadow: so it can take nothing that
// another gang was promised. Every change can be rolled back to a mark.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sched/level.h"
#include "sched/volume_book.h"

namespace trainyard::sched {

enum LevelMask : unsigned { kNow = 1, kSoon = 2, kShadow = 4, kEmpty = 8 };

inline constexpr unsigned kToBind = kNow | kSoon | kShadow;
inline constexpr unsigned kToBindShort = kNow | kSoon;  // gone before the shadow
inline constexpr unsigned kToClaim = kSoon | kShadow;
inline constexpr unsigned kToReserve = kShadow;

class State {
 public:
  // `now`: what is free as the pass begins, volumes apart.
  State(const Tables& tables, const Level& now);
  // Of a pod that is counted in `now`: its volumes.
  void mount(int node, int pod_class) { volumes_.take(kNow, node, pod_class, 1); }

  // Makes the level as a copy of the nearest earlier one when it is not there.
  void ensure(LevelMask level);
  bool has(LevelMask level) const { return level_at(level).has_value(); }

  // Which levels are asked and changed from here on. A level that does not exist does not
  // count; REQUIRES: one of them exists.
  void use(unsigned mask);
  unsigned used() const { return active_; }

  void take(int node, int pod_class, int times) { change(active_, node, pod_class, -times); }
  // Changes levels other than those in use.
  void give_in(unsigned mask, int node, int pod_class) { change(mask, node, pod_class, 1); }

  // What is free in every level in use.
  const int64_t* usable(int node) const { return &usable_[static_cast<size_t>(node) * width_]; }
  int64_t free_now(int node, int resource) const { return levels_[0]->free(node)[resource]; }
  // How many pods of the class the free amounts hold.
  int room_for(int node, int pod_class) const;
  bool tolerates(int node, int pod_class) const;
  bool is_near(int node, int pod_class, bool placed) const;
  // Why one of the two does not hold, volumes apart.
  std::optional<Hindrance> hindrance(int node, int pod_class) const;
  // Whether a pod that matches the term is there now.
  bool has_any(int term) const { return levels_[0]->has_any(term); }
  int64_t preference(int node, int pod_class) const;
  // The volumes of claims now: what a claim has, -1 nothing; whether a source has something left.
  int source_now(int claim) const { return volumes_.source_at(0, claim); }
  bool source_is_free(int source) const { return volumes_.is_free(0, source); }

  size_t mark() const { return done_.size(); }
  void roll_back(size_t mark);

  // What changed since, for indexes over the nodes: their numbers in order, and a count of
  // the times when everything changed.
  const std::vector<int>& touched() const { return touched_; }
  uint64_t upheavals() const { return upheavals_; }

 private:
  struct Change {
    unsigned mask;
    int node;
    int pod_class;
    int times;  // below zero: taken
  };

  const std::optional<Level>& level_at(LevelMask level) const;
  void change(unsigned mask, int node, int pod_class, int times);
  void apply(const Change& change);
  void look_at(int node);

  const Tables& tables_;
  size_t width_;
  std::array<std::optional<Level>, VolumeBook::kLevels> levels_;
  VolumeBook volumes_;
  unsigned active_ = kNow;
  std::vector<int64_t> usable_;
  std::vector<Change> done_;
  std::vector<int> touched_;
  uint64_t upheavals_ = 0;
};

}  // namespace trainyard::sched
