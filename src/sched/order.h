// Order: which gang is tried next. Pure over a Pass.
//   1. gangs that hold nodes and are not whole: they keep first claim on their place
//   2. gangs that stay within what their queue is guaranteed, and may take it back from others
//   3. by queue: priority, then the smaller dominant share, then the name; inside a queue by
//      PriorityClass, then those that have waited longer than the policy allows, then job
//      priority with age, time queued, id
// Nobody goes before one that may preempt it: it would be placed only to be taken again.
// Shares change as gangs are placed, so the next is chosen when it is asked for.
#pragma once

#include <optional>
#include <vector>

#include "sched/pass.h"

namespace trainyard::sched {

class Order {
 public:
  explicit Order(const Pass& pass);
  // The next gang; nullopt when all were given.
  std::optional<int> next();

 private:
  struct Line {
    int queue = -1;
    std::vector<int> gangs;  // the next one last
  };
  bool goes_before(const Line& a, const Line& b) const;
  bool is_guaranteed(const Line& line) const;

  const Pass& pass_;
  std::vector<int> first_;  // broken gangs, the next one last
  std::vector<Line> lines_;
};

}  // namespace trainyard::sched
