// Preempt: which gangs leave so that another fits. Whole gangs, never for nothing: victims are
// only chosen when the gang then fits, in its queue and on the nodes. A gang may be taken
//   - for one of a queue with a higher priority, if its own queue may be taken from and keeps
//     what it is guaranteed;
//   - for one of the same queue with a higher PriorityClass;
//   - for one whose queue is entitled to what it asks for, while its own queue holds more than
//     its part (reclaim);
//   - for a broken gang that goes before it, when it is broken itself: two gangs never sit on
//     parts of what both need.
// Age and job priority give no right to preempt. Each relation is a strict order, so nobody is
// taken for one that it could take in turn.
//
// The cost, least first: the highest queue priority and PriorityClass among those that go, the
// number of pods, the number of gangs, work lost (the youngest go first). Of a few candidates the cheapest
// set there is; of many the cheapest of some good ones, as to try all would take for ever.
#pragma once

#include <optional>
#include <vector>

#include "sched/pass.h"

namespace trainyard::sched {

struct Victim {
  int gang = 0;
  EvictionCause cause = EvictionCause::kPreempted;
};

class Preemption {
 public:
  explicit Preemption(Pass& pass) : pass_(pass) {}

  // The victims for gang `g`; nullopt when no choice of them makes it fit. Leaves the pass as
  // it was.
  std::optional<std::vector<Victim>> find(int g);
  // All that gang `g` has a right to take for what it wants, whether or not it then fits.
  Amounts may_take(int g, const Amounts& wanted);

 private:
  using Victims = std::vector<Victim>;

  std::vector<int> candidates(int g, const Amounts& wanted);
  void large_first(std::vector<int>& candidates) const;
  void small_first(std::vector<int>& candidates) const;
  std::optional<EvictionCause> right(int g, int victim, const Amounts& wanted);
  bool entitled(int q, const Amounts& wanted);
  // Whether the queue holds its part even without that, where there is not enough for all.
  bool beyond_part(int q, const Amounts& losing);
  const std::vector<Amounts>& parts();
  // Those of the candidates that may be taken one after the other.
  Victims permitted(int g, const std::vector<int>& candidates, const Amounts& wanted);
  bool fits_without(int g, const Victims& victims);
  Victims spare(int g, Victims victims);
  std::optional<Victims> fewest_of(int g, const Victims& most);
  std::optional<Victims> cheapest_single(int g, const std::vector<int>& all, const Amounts& wanted);
  Victims cheapest_of_few(int g, const std::vector<int>& all, const Amounts& wanted, Victims best);
  bool cheaper(const Victims& a, const Victims& b) const;

  Pass& pass_;
  std::optional<std::vector<Amounts>> parts_;
  Amounts lacking_;  // by resource: by how much all wishes together exceed what there is
};

}  // namespace trainyard::sched
