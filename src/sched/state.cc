#include "sched/state.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace trainyard::sched {
namespace {

constexpr size_t index_of(LevelMask level) {
  switch (level) {
    case kNow:
      return 0;
    case kSoon:
      return 1;
    case kShadow:
      return 2;
    case kEmpty:
      return 3;
  }
  return 0;
}

constexpr unsigned bit(size_t index) { return 1u << index; }

}  // namespace

State::State(const Tables& tables, const Level& now)
    : tables_(tables), width_(static_cast<size_t>(tables.resources())), volumes_(tables) {
  levels_[0] = now;
  usable_.resize(static_cast<size_t>(tables.nodes()) * width_);
  use(kNow);
}

const std::optional<Level>& State::level_at(LevelMask level) const { return levels_[index_of(level)]; }

void State::ensure(LevelMask level) {
  size_t index = index_of(level);
  if (levels_[index]) return;
  size_t from = level == kShadow && levels_[1] ? 1 : 0;
  levels_[index] = levels_[from];
  volumes_.copy(from, index);
}

void State::use(unsigned mask) {
  unsigned active = 0;
  for (size_t i = 0; i < levels_.size(); ++i) {
    if (levels_[i] && (mask & bit(i)) != 0) active |= bit(i);
  }
  CHECK(active != 0);
  if (active == active_ && upheavals_ > 0) return;
  active_ = active;
  for (int n = 0; n < tables_.nodes(); ++n) look_at(n);
  touched_.clear();
  ++upheavals_;
}

void State::look_at(int node) {
  int64_t* row = &usable_[static_cast<size_t>(node) * width_];
  bool first = true;
  for (size_t i = 0; i < levels_.size(); ++i) {
    if ((active_ & bit(i)) == 0) continue;
    const int64_t* free = levels_[i]->free(node);
    for (size_t r = 0; r < width_; ++r) row[r] = first ? free[r] : std::min(row[r], free[r]);
    first = false;
  }
}

void State::change(unsigned mask, int node, int pod_class, int times) {
  if (node < 0) return;  // on a node that is gone: holds nothing
  done_.push_back({mask, node, pod_class, times});
  apply(done_.back());
}

void State::apply(const Change& change) {
  unsigned changed = 0;
  for (size_t i = 0; i < levels_.size(); ++i) {
    if (!levels_[i] || (change.mask & bit(i)) == 0) continue;
    changed |= bit(i);
    if (change.times < 0) {
      levels_[i]->take(tables_, change.node, change.pod_class, -change.times);
    } else {
      levels_[i]->give(tables_, change.node, change.pod_class, change.times);
    }
  }
  if (change.times < 0) {
    volumes_.take(changed, change.node, change.pod_class, -change.times);
  } else {
    volumes_.give(changed, change.pod_class, change.times);
  }
  if ((change.mask & active_) == 0) return;
  look_at(change.node);
  touched_.push_back(change.node);
}

void State::roll_back(size_t mark) {
  CHECK(mark <= done_.size());
  while (done_.size() > mark) {
    Change change = done_.back();
    done_.pop_back();
    change.times = -change.times;
    apply(change);
  }
}

int State::room_for(int node, int pod_class) const {
  const int64_t* row = usable(node);
  int64_t room = std::numeric_limits<int>::max();
  for (const Need& need : tables_.needs(pod_class)) {
    room = std::min(room, std::max<int64_t>(row[need.resource], 0) / need.amount);
  }
  return static_cast<int>(room);
}

bool State::tolerates(int node, int pod_class) const {
  if (!tables_.looks_around(pod_class)) return true;
  for (size_t i = 0; i < levels_.size(); ++i) {
    if ((active_ & bit(i)) != 0 && !levels_[i]->tolerates(tables_, node, pod_class)) return false;
  }
  return tables_.pod_class(pod_class).claims.empty() || volumes_.has_for(active_, node, pod_class);
}

bool State::is_near(int node, int pod_class, bool placed) const {
  if (tables_.pod_class(pod_class).near.empty()) return true;
  for (size_t i = 0; i < levels_.size(); ++i) {
    if ((active_ & bit(i)) != 0 && !levels_[i]->is_near(tables_, node, pod_class, placed)) return false;
  }
  return true;
}

std::optional<Hindrance> State::hindrance(int node, int pod_class) const {
  for (size_t i = 0; i < levels_.size(); ++i) {
    if ((active_ & bit(i)) == 0) continue;
    if (std::optional<Hindrance> found = levels_[i]->hindrance(tables_, node, pod_class)) return found;
  }
  return std::nullopt;
}

int64_t State::preference(int node, int pod_class) const {
  int64_t score = 0;
  for (size_t i = 0; i < levels_.size(); ++i) {
    if ((active_ & bit(i)) == 0) continue;
    for (const PreferredPods& wish : tables_.pod_class(pod_class).preferred) {
      score += int64_t{wish.weight} * levels_[i]->matching_there(tables_, wish.term, node);
    }
    break;  // the earliest moment decides what is liked
  }
  return score;
}

}  // namespace trainyard::sched
