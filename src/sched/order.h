// Order: which gang is tried next. Pure over a Pass.
//   1. gangs that hold nodes and are not whole: they keep first claim on their place
//   2. gangs that stay within what their queue is guaranteed, and may take it back from others, when they are
//      the next of their queue: those that need more than there is are passed over
//   3. by queue: priority, then the smaller dominant share, then the name; inside a queue by
//      PriorityClass, then those that have waited longer than the policy allows, then job
//      priority with age, time queued, id
// Nobody goes before one that may preempt it: it would be placed only to be taken again, again and again.
// Shares change as gangs are placed, so the next is chosen when it is asked for.
#pragma once

#include <optional>
#include <vector>

#include "sched/pass.h"

namespace trainyard::sched {

class Order {
 public:
  explicit Order(Pass& pass);
  // The next gang; nullopt when all were given. The pass is told whether others of its queue wait before it.
  std::optional<int> next();

 private:
  struct Line {
    int queue = -1;
    std::vector<int> gangs;        // the next one last
    std::optional<int> last = {};  // given, and not guaranteed
    bool held_up = false;          // one that was given before waits
  };
  bool goes_before(const Line& a, const Line& b) const;
  bool is_guaranteed(const Line& line) const;
  bool is_hopeless(int g) const;
  int take_next(Line& line);

  Pass& pass_;
  std::vector<int> first_;  // broken gangs, the next one last
  std::vector<Line> lines_;
};

}  // namespace trainyard::sched
