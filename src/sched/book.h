// Book: what each queue holds now and will hold soon, and what it may still take. Owned by
// one pass. A queue may never hold more than its capacity, and nobody may take what other
// queues are guaranteed and have not used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sched/decisions.h"
#include "sched/fairness.h"
#include "sched/gang.h"
#include "sched/tables.h"

namespace trainyard::sched {

struct Refusal {
  WaitKind kind = WaitKind::kWaitFor;
  WaitCode code = WaitCode::kQueueFull;
  std::string text;
  bool operator==(const Refusal&) const = default;
};

// Of a gang that needs more than its queue may ever hold.
Refusal never_in_queue(const Queue& queue, const std::string& needs, const std::string& capacity);

enum class Moment { kNow, kSoon };

class Book {
 public:
  explicit Book(const Tables& tables);

  const Queue& queue(int q) const { return tables_.cluster().queues[static_cast<size_t>(q)]; }

  // Held by a gang of the queue (-1: of none) from now on, or from soon on.
  void hold(Moment from, int q, const Amounts& what, int64_t times = 1);
  // No longer held soon.
  void leave(int q, const Amounts& what, int64_t times = 1) { hold(Moment::kSoon, q, what, -times); }

  const Amounts& held(Moment when, int q) const { return side(when).by_queue[static_cast<size_t>(q)]; }
  Share share(int q) const { return share(q, held(Moment::kSoon, q)); }
  Share share(int q, const Amounts& held) const;  // if it held that
  // Which of two queues with these shares is served first: priority, the smaller share, the name.
  bool goes_before(int a, const Share& of_a, int b, const Share& of_b) const;

  // Whether gangs of that namespace are served at all; `begun`: nodes are held, or work is done, already.
  std::optional<Refusal> turns_away(int q, const std::string& ns, bool begun) const;
  // Whether the queue may take that much more; a gang bound now must be welcome soon as well.
  std::optional<Refusal> refuses(int q, const Amounts& what, Moment when) const;
  // Whether the queue, with that much more, holds no more than it is guaranteed, of what it is.
  bool within_guarantee(int q, const Amounts& wanted) const;
  // Whether losing that much leaves the queue with what it is guaranteed.
  bool keeps(int q, const Amounts& what, const Amounts& at_least) const;

 private:
  struct Side {
    std::vector<Amounts> by_queue;
    Amounts all;
    Amounts unused_guarantees;
  };
  Side& side(Moment when) { return when == Moment::kNow ? now_ : soon_; }
  const Side& side(Moment when) const { return when == Moment::kNow ? now_ : soon_; }
  int64_t unused_guarantee(const Side& side, int q, int resource) const;
  void put(Side& side, int q, const Amounts& what, int64_t times);
  std::optional<Refusal> over_capacity(const Side& side, int q, const Amounts& what) const;
  std::optional<Refusal> into_guarantees(const Side& side, int q, const Amounts& what) const;

  const Tables& tables_;
  std::vector<Amounts> measures_;
  bool guarantees_ = false;
  Side now_;
  Side soon_;
};

}  // namespace trainyard::sched
