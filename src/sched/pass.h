// Pass: the table that the policies of one pass work on. Made from the input, changed by each
// policy in turn, thrown away. Gangs are spoken of by their index in the input; nothing may
// depend on that order. What is known of a gang is put down when somebody asks: most are settled, and
// nobody does.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sched/book.h"
#include "sched/place.h"
#include "sched/standing.h"

namespace trainyard::sched {

class Pass {
 public:
  // What is noted of a gang in this pass.
  struct Row {
    Needs needs;
    Amounts held;
    unsigned present = kNow | kSoon | kShadow;  // the levels that hold its placed members
    Spots bound = {};
    bool evicted = false;
    bool promised = false;  // has room soon, in the book already
    bool held_up = false;   // others of its queue wait before it
  };

  Pass(const Standing& standing, std::span<const Gang> gangs, const Policy& policy, Time now);

  const Gang& gang(int g) const { return gangs[static_cast<size_t>(g)]; }
  Row& row(int g) const;  // stays where it is
  const Needs& needs_of(int g) const { return row(g).needs; }
  int queue_of(int g) const { return standing.queue_of(g); }
  // How many of its members hold nodes and do not leave.
  int pods_held(int g) const { return standing.pods_held(g); }
  // Whether it was given nodes, or made to leave, in this pass.
  bool is_touched(int g) const;
  // Null when the queue that it names does not exist.
  const Queue* queue_at(int g) const { return queue_of(g) < 0 ? nullptr : &book.queue(queue_of(g)); }
  // What the members that hold nodes hold, without those that leave.
  const Amounts& held_by(int g) const { return row(g).held; }
  bool goes_first(int a, int b) const;  // inside a queue: priority, age, id

  Duration waited(int g) const { return now - gang(g).queued_at; }
  std::optional<Time> times_out_at(int g) const;  // when it has waited longer than it allowed
  bool timed_out(int g) const;
  // Takes the gang's placed members out of these levels, as far as it is still in them, and
  // answers which those were. After a roll back of the State, undo_lift() takes that back too.
  unsigned lift(int g, unsigned mask);
  void undo_lift(int g, unsigned mask) { row(g).present |= mask; }
  bool is_in(int g, LevelMask level) const;

  Amounts requests_of(int g, const Spots& spots) const;
  Amounts wanted_by(int g) const;  // what all of its members that wait ask for
  void evict(int g, EvictionCause cause, const std::string& beneficiary);
  void wait(int g, WaitKind kind, WaitCode code, std::string text);
  void wake_at(Time time);

  // The input.
  const Standing& standing;
  const Cluster& cluster;
  std::span<const Gang> gangs;
  const Policy& policy;
  Time now;
  // What was made of it.
  const Tables& tables;
  State state;
  NodeViews views;
  Placer placer;
  Book book;
  const std::vector<int>& by_id;  // the gangs in the order of their ids
  const std::vector<int>& open;   // those that are not settled, in the same order
  // What is decided, besides the rows.
  Decisions out;

 private:
  int64_t points_of(int g) const;  // job priority and age
  void read_what_is_there();
  void let_leave();

  mutable std::vector<int> row_of_;  // by gang; -1 none yet
  mutable std::deque<Row> rows_;
};

}  // namespace trainyard::sched
