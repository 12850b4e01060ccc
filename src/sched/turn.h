// Turn: what happens when it is a gang's turn: bound, promised room that is becoming free,
// given room by preemption, reserved for, or told why it waits. Changes the pass.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sched/pass.h"
#include "sched/preempt.h"

namespace trainyard::sched {

class Turns {
 public:
  explicit Turns(Pass& pass) : pass_(pass), preemption_(pass) {}

  void take_turn(int g);
  // The rest of gangs that are already being evicted goes too.
  void finish_evictions();
  // Members beyond the minimum, after all gangs had their turn.
  void place_extras();

 private:
  using Shape = std::vector<int64_t>;

  // Whether it has its answer already: pods missing, no queue, a queue that does not serve it.
  bool cannot_start(int g);
  void keep_place(int g);
  void promise(int g, const Amounts& room);
  bool bind(int g, unsigned levels);
  bool claim(int g);
  bool preempt(int g);
  void give_up(int g);
  bool release(int g);
  void maybe_reserve(int g, const Refusal& why);
  Refusal explain(int g);
  bool fits_empty_cluster(int g);
  void make_empty_level();
  std::optional<Refusal> refused_at_once(int g, Moment when) const;
  Shape shape_of(int g) const;
  void place_extras_of(int g);
  std::optional<Refusal> add_extras(int g, std::vector<int> left);

  Pass& pass_;
  Preemption preemption_;
  std::map<Shape, Refusal> in_vain_;     // shapes that did not fit and why: nothing has become free since
  std::optional<Refusal> last_refusal_;  // of the queue, in this turn
  bool blocked_ = false;                 // without backfill: somebody waits
  int preempt_tries_ = 0;
  int reasons_given_ = 0;
};

}  // namespace trainyard::sched
