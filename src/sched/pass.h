// Pass: the table that the policies of one pass work on. Made from the input, changed by each
// policy in turn, thrown away. Gangs are spoken of by their index in the input; nothing may
// depend on that order.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "sched/book.h"
#include "sched/place.h"

namespace trainyard::sched {

class Pass {
 public:
  Pass(const Cluster& cluster, std::span<const Gang> gangs, const Policy& policy, Time now);

  const Gang& gang(int g) const { return gangs[static_cast<size_t>(g)]; }
  const Needs& needs_of(int g) const { return needs[static_cast<size_t>(g)]; }
  int queue_of(int g) const { return queue[static_cast<size_t>(g)]; }
  // Null when the queue that it names does not exist.
  const Queue* queue_at(int g) const { return queue_of(g) < 0 ? nullptr : &book.queue(queue_of(g)); }
  // What the members that hold nodes hold, without those that leave.
  const Amounts& held_by(int g) const { return held[static_cast<size_t>(g)]; }
  bool goes_first(int a, int b) const;  // inside a queue: priority, age, id

  Duration waited(int g) const { return now - gang(g).queued_at; }
  std::optional<Time> times_out_at(int g) const;  // when it has waited longer than it allowed
  bool timed_out(int g) const;
  // Takes the gang's placed members out of these levels, as far as it is still in them, and
  // answers which those were. After a roll back of the State, undo_lift() takes that back too.
  unsigned lift(int g, unsigned mask);
  void undo_lift(int g, unsigned mask) { present[static_cast<size_t>(g)] |= mask; }
  bool is_in(int g, LevelMask level) const { return (present[static_cast<size_t>(g)] & level) != 0; }

  Amounts requests_of(int g, const Spots& spots) const;
  Amounts wanted_by(int g) const;  // what all of its members that wait ask for
  void evict(int g, EvictionCause cause, const std::string& beneficiary);
  void wait(int g, WaitKind kind, WaitCode code, std::string text);
  void wake_at(Time time);

  // The input.
  const Cluster& cluster;
  std::span<const Gang> gangs;
  const Policy& policy;
  Time now;
  // What was made of it.
  Tables tables;
  State state;
  NodeViews views;
  Placer placer;
  Book book;
  std::vector<int> by_id;  // the gangs in the order of their ids
  std::vector<Needs> needs;
  std::vector<int> queue;
  std::vector<Amounts> held;
  std::vector<unsigned> present;  // the levels that hold its placed members
  std::vector<int64_t> points;    // job priority and age
  // What is decided.
  std::vector<Spots> bound;  // by gang
  std::vector<bool> evicted;
  std::vector<bool> promised;  // has room soon, in the book already
  std::vector<bool> held_up;   // others of its queue wait before it
  Decisions out;

 private:
  void read_gang(int g);
  void place_what_is_there();
  void let_leave();
};

}  // namespace trainyard::sched
