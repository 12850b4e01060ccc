#include "sched/book.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace trainyard::sched {

Refusal never_in_queue(const Queue& queue, const std::string& needs, const std::string& capacity) {
  return {WaitKind::kInfeasible, WaitCode::kQueueFull,
          fmt::format("needs {}, queue {} may hold no more than {}", needs, queue.name, capacity)};
}

Book::Book(const Tables& tables) : tables_(tables) {
  const std::vector<Queue>& queues = tables.cluster().queues;
  size_t width = tables.cluster().resources.size();
  for (Side* side : {&now_, &soon_}) {
    side->by_queue.assign(queues.size(), Amounts(width, 0));
    side->all.assign(width, 0);
    side->unused_guarantees.assign(width, 0);
  }
  for (size_t q = 0; q < queues.size(); ++q) {
    CHECK(queues[q].capacity.size() <= width);
    CHECK(queues[q].guarantee.size() <= width);
    measures_.push_back(measure_of(queues[q], tables.total()));
    if (queues[q].closed) continue;
    guarantees_ = guarantees_ || any_positive(queues[q].guarantee);
    add(now_.unused_guarantees, queues[q].guarantee);
    add(soon_.unused_guarantees, queues[q].guarantee);
  }
}

int64_t Book::unused_guarantee(const Side& side, int q, int resource) const {
  if (q < 0 || queue(q).closed) return 0;
  int64_t held = side.by_queue[static_cast<size_t>(q)][static_cast<size_t>(resource)];
  return std::max<int64_t>(0, amount_at(queue(q).guarantee, resource) - held);
}

void Book::put(Side& side, int q, const Amounts& what, int64_t times) {
  add(side.all, what, times);
  if (q < 0) return;
  for (size_t r = 0; r < what.size(); ++r)
    side.unused_guarantees[r] -= unused_guarantee(side, q, static_cast<int>(r));
  add(side.by_queue[static_cast<size_t>(q)], what, times);
  for (size_t r = 0; r < what.size(); ++r)
    side.unused_guarantees[r] += unused_guarantee(side, q, static_cast<int>(r));
}

void Book::hold(Moment from, int q, const Amounts& what, int64_t times) {
  if (from == Moment::kNow) put(now_, q, what, times);
  put(soon_, q, what, times);
}

Share Book::share(int q, const Amounts& held) const {
  return dominant_share(held, measures_[static_cast<size_t>(q)], std::max(1, queue(q).weight));
}

bool Book::goes_before(int a, const Share& of_a, int b, const Share& of_b) const {
  const Queue& x = queue(a);
  const Queue& y = queue(b);
  if (x.priority != y.priority) return x.priority > y.priority;
  if (less(of_a, of_b)) return true;
  if (less(of_b, of_a)) return false;
  return x.name < y.name;
}

std::optional<Refusal> Book::turns_away(int q, const std::string& ns, bool begun) const {
  const Queue& of = queue(q);
  if (of.closed && !begun) {
    return Refusal{WaitKind::kInfeasible, WaitCode::kQueueClosed,
                   fmt::format("queue {} is closed: open it, or name another", of.name)};
  }
  if (of.namespaces && !std::binary_search(of.namespaces->begin(), of.namespaces->end(), ns)) {
    return Refusal{WaitKind::kInfeasible, WaitCode::kNamespace,
                   fmt::format("queue {} does not serve namespace {}: let it, or name another", of.name, ns)};
  }
  return std::nullopt;
}

std::optional<Refusal> Book::over_capacity(const Side& side, int q, const Amounts& what) const {
  const Queue& of = queue(q);
  for (size_t r = 0; r < what.size(); ++r) {
    std::optional<int64_t> most = most_of(of, static_cast<int>(r));
    if (!most || what[r] <= 0) continue;
    int64_t held = side.by_queue[static_cast<size_t>(q)][r];
    if (plus(held, what[r]) <= *most) continue;
    const std::string& name = tables_.cluster().resources[r];
    std::string needs = amount_phrase(name, what[r]);
    if (what[r] > *most) return never_in_queue(of, needs, amount_text(name, *most));
    return Refusal{WaitKind::kWaitFor, WaitCode::kQueueFull,
                   fmt::format("needs {}, queue {} holds {} of the {} it may", needs, of.name,
                               amount_text(name, held), amount_text(name, *most))};
  }
  return std::nullopt;
}

std::optional<Refusal> Book::into_guarantees(const Side& side, int q, const Amounts& what) const {
  if (!guarantees_) return std::nullopt;
  for (size_t r = 0; r < what.size(); ++r) {
    if (what[r] <= 0) continue;
    int64_t kept = side.unused_guarantees[r] - unused_guarantee(side, q, static_cast<int>(r));
    int64_t total = amount_at(tables_.total(), static_cast<int>(r));
    if (kept <= 0 || plus(plus(side.all[r], what[r]), kept) <= total) continue;
    const std::string& name = tables_.cluster().resources[r];
    return Refusal{
        plus(what[r], kept) > total ? WaitKind::kInfeasible : WaitKind::kWaitFor, WaitCode::kGuaranteed,
        fmt::format("needs {}; of the {} free, {} is kept for queues that are guaranteed it",
                    amount_phrase(name, what[r]),
                    amount_text(name, std::max<int64_t>(0, total - side.all[r])), amount_text(name, kept))};
  }
  return std::nullopt;
}

std::optional<Refusal> Book::refuses(int q, const Amounts& what, Moment when) const {
  for (Moment moment : {Moment::kNow, Moment::kSoon}) {
    if (moment == Moment::kNow && when == Moment::kSoon) continue;
    if (std::optional<Refusal> no = over_capacity(side(moment), q, what)) return no;
    if (std::optional<Refusal> no = into_guarantees(side(moment), q, what)) return no;
  }
  return std::nullopt;
}

bool Book::within_guarantee(int q, const Amounts& wanted) const {
  const Amounts& guarantee = queue(q).guarantee;
  const Amounts& has = held(Moment::kSoon, q);
  for (size_t r = 0; r < wanted.size(); ++r) {
    int64_t most = amount_at(guarantee, static_cast<int>(r));
    if (wanted[r] > 0 && most > 0 && plus(has[r], wanted[r]) > most) return false;
  }
  return any_positive(guarantee);
}

bool Book::keeps(int q, const Amounts& what, const Amounts& at_least) const {
  for (size_t r = 0; r < what.size(); ++r) {
    if (what[r] <= 0) continue;
    if (held(Moment::kSoon, q)[r] - what[r] < amount_at(at_least, static_cast<int>(r))) return false;
  }
  return true;
}

}  // namespace trainyard::sched
