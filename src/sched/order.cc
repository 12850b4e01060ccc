#include "sched/order.h"

#include <algorithm>
#include <map>

#include "sched/asked.h"

namespace trainyard::sched {

Order::Order(Pass& pass) : pass_(pass) {
  std::map<int, Line> lines;
  for (int g : pass.open) {
    const Needs& needs = pass.needs_of(g);
    if (needs.whole()) continue;
    if (needs.broken()) {
      first_.push_back(g);
    } else {
      Line& line = lines[pass.queue_of(g)];
      line.queue = pass.queue_of(g);
      line.gangs.push_back(g);
    }
  }
  auto later = [&](int a, int b) { return pass.goes_first(b, a); };
  std::sort(first_.begin(), first_.end(), later);
  for (auto& [_, line] : lines) {
    std::sort(line.gangs.begin(), line.gangs.end(), later);
    lines_.push_back(std::move(line));
  }
}

bool Order::goes_before(const Line& a, const Line& b) const {
  if ((a.queue < 0) != (b.queue < 0)) return b.queue < 0;  // gangs without a queue only want an answer
  if (a.queue < 0) return false;
  bool guaranteed = is_guaranteed(a);
  if (guaranteed != is_guaranteed(b)) return guaranteed;
  return pass_.book.goes_before(a.queue, pass_.book.share(a.queue), b.queue, pass_.book.share(b.queue));
}

// A guarantee is an amount, not a place: a higher queue that chose first could take the one node that the
// gang can have, and would have to give it back, again and again.
bool Order::is_guaranteed(const Line& line) const {
  if (line.held_up || !pass_.policy.reclaim || !any_positive(pass_.book.queue(line.queue).guarantee)) {
    return false;
  }
  auto next = std::find_if(line.gangs.rbegin(), line.gangs.rend(), [&](int g) { return !is_hopeless(g); });
  return next != line.gangs.rend() && pass_.gang(*next).may_preempt &&
         !pass_.needs_of(*next).waiting.empty() &&
         pass_.book.within_guarantee(line.queue, pass_.wanted_by(*next));
}

// More than there is of something: it is only told so.
bool Order::is_hopeless(int g) const {
  Amounts needed;
  for (int m : needed_members(pass_.gang(g), pass_.needs_of(g))) {
    add(needed, pass_.tables.pod_class(pass_.gang(g).members[static_cast<size_t>(m)].pod_class).requests);
  }
  return !fits_within(needed, pass_.tables.total());
}

int Order::take_next(Line& line) {
  bool guarantees = line.queue >= 0 && any_positive(pass_.book.queue(line.queue).guarantee);
  if (line.last) line.held_up = line.held_up || pass_.row(*line.last).bound.empty();
  line.last.reset();
  int g = line.gangs.back();
  if (guarantees && !is_guaranteed(line) && !is_hopeless(g)) line.last = g;
  line.gangs.pop_back();
  pass_.row(g).held_up = line.held_up;
  return g;
}

std::optional<int> Order::next() {
  if (!first_.empty()) {
    int g = first_.back();
    first_.pop_back();
    return g;
  }
  Line* best = nullptr;
  for (Line& line : lines_) {
    if (!line.gangs.empty() && (best == nullptr || goes_before(line, *best))) best = &line;
  }
  if (best == nullptr) return std::nullopt;
  return take_next(*best);
}

}  // namespace trainyard::sched
