#include "sched/preempt.h"

#include <algorithm>
#include <tuple>

namespace trainyard::sched {
namespace {

constexpr size_t kSingleTriesMax = 64;
constexpr size_t kSpareTriesMax = 128;
constexpr size_t kFewCandidates = 6;  // of which all sets are looked at: 63

}  // namespace

// Cheapest first.
std::vector<int> Preemption::candidates(int g, const Amounts& wanted) {
  std::vector<int> out;
  for (int v : pass_.by_id) {
    bool movable = v != g && pass_.pods_held(v) > 0 && pass_.gang(v).preemptible && !pass_.is_touched(v);
    if (movable && right(g, v, wanted)) out.push_back(v);
  }
  auto rank = [&](int v) {
    int q = pass_.queue_of(v);
    return std::tuple(q < 0 ? 0 : pass_.book.queue(q).priority, pass_.gang(v).class_priority,
                      pass_.gang(v).job_priority);
  };
  std::stable_sort(out.begin(), out.end(), [&](int a, int b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    if (pass_.gang(a).queued_at != pass_.gang(b).queued_at) {
      return pass_.gang(a).queued_at > pass_.gang(b).queued_at;
    }
    return pass_.pods_held(a) < pass_.pods_held(b);
  });
  return out;
}

const std::vector<Amounts>& Preemption::parts() {
  if (parts_) return *parts_;
  std::vector<Amounts> wanted;
  for (size_t q = 0; q < pass_.cluster.queues.size(); ++q) {
    wanted.push_back(pass_.book.held(Moment::kSoon, static_cast<int>(q)));
  }
  for (int g : pass_.open) {
    const Gang& gang = pass_.gang(g);
    int q = pass_.queue_of(g);
    if (q < 0 || !pass_.row(g).bound.empty()) continue;
    for (int m : pass_.needs_of(g).waiting) {
      int pod_class = gang.members[static_cast<size_t>(m)].pod_class;
      add(wanted[static_cast<size_t>(q)], pass_.tables.pod_class(pod_class).requests);
    }
    if (gang.asks_admission) add(wanted[static_cast<size_t>(q)], gang.min_resources);
  }
  for (const Amounts& of_queue : wanted) add(lacking_, of_queue);
  add(lacking_, pass_.tables.total(), -1);
  parts_ = deserved_parts(pass_.cluster.queues, wanted, pass_.tables.total());
  return *parts_;
}

// Whether the queue, with that much more, holds no more than its part.
bool Preemption::entitled(int q, const Amounts& wanted) {
  const Amounts& part = parts()[static_cast<size_t>(q)];
  const Amounts& held = pass_.book.held(Moment::kSoon, q);
  for (size_t r = 0; r < wanted.size(); ++r) {
    if (wanted[r] > 0 && plus(held[r], wanted[r]) > amount_at(part, static_cast<int>(r))) return false;
  }
  return true;
}

bool Preemption::beyond_part(int q, const Amounts& losing) {
  const Amounts& part = parts()[static_cast<size_t>(q)];
  const Amounts& held = pass_.book.held(Moment::kSoon, q);
  bool any = false;
  for (size_t r = 0; r < losing.size(); ++r) {
    if (losing[r] <= 0 || amount_at(lacking_, static_cast<int>(r)) <= 0) continue;
    if (held[r] - losing[r] < part[r]) return false;
    any = true;
  }
  return any;
}

std::optional<EvictionCause> Preemption::right(int g, int victim, const Amounts& wanted) {
  const Gang& taker = pass_.gang(g);
  const Gang& taken = pass_.gang(victim);
  if (pass_.needs_of(g).broken() && pass_.needs_of(victim).broken() && pass_.goes_first(g, victim)) {
    return EvictionCause::kReleased;
  }
  int q = pass_.queue_of(g);
  int from = pass_.queue_of(victim);
  if (!taker.may_preempt || from < 0) return std::nullopt;
  if (q == from) {
    bool higher = pass_.policy.preempt && taker.class_priority > taken.class_priority;
    return higher ? std::optional(EvictionCause::kPreempted) : std::nullopt;
  }
  const Queue& mine = pass_.book.queue(q);
  const Queue& theirs = pass_.book.queue(from);
  const Amounts& losing = pass_.held_by(victim);
  if (!theirs.preemptible || !pass_.book.keeps(from, losing, theirs.guarantee)) return std::nullopt;
  if (pass_.policy.preempt && mine.priority > theirs.priority) return EvictionCause::kPreempted;
  if (!pass_.policy.reclaim) return std::nullopt;
  bool in_turn = !pass_.row(g).held_up;  // else the other would be placed before it, anew
  if (in_turn && pass_.book.within_guarantee(q, wanted)) return EvictionCause::kReclaimed;
  bool too_much = mine.priority == theirs.priority && beyond_part(from, losing);
  return too_much && entitled(q, wanted) ? std::optional(EvictionCause::kReclaimed) : std::nullopt;
}

Preemption::Victims Preemption::permitted(int g, const std::vector<int>& candidates, const Amounts& wanted) {
  Victims out;
  for (int candidate : candidates) {
    std::optional<EvictionCause> cause = right(g, candidate, wanted);
    if (!cause) continue;
    out.push_back({candidate, *cause});
    pass_.book.leave(pass_.queue_of(candidate), pass_.held_by(candidate));
  }
  for (const Victim& victim : out) {
    pass_.book.leave(pass_.queue_of(victim.gang), pass_.held_by(victim.gang), -1);
  }
  return out;
}

bool Preemption::fits_without(int g, const Victims& victims) {
  size_t mark = pass_.state.mark();
  std::vector<unsigned> masks;
  for (const Victim& victim : victims) {
    masks.push_back(pass_.lift(victim.gang, kToClaim));
    pass_.book.leave(pass_.queue_of(victim.gang), pass_.held_by(victim.gang));
  }
  std::optional<Spots> spots = pass_.placer.place_needed(pass_.gang(g), pass_.needs_of(g), pass_.queue_of(g));
  bool fits = spots && !pass_.book.refuses(pass_.queue_of(g), pass_.requests_of(g, *spots), Moment::kSoon);
  pass_.state.roll_back(mark);
  for (size_t i = 0; i < victims.size(); ++i) {
    pass_.undo_lift(victims[i].gang, masks[i]);
    pass_.book.leave(pass_.queue_of(victims[i].gang), pass_.held_by(victims[i].gang), -1);
  }
  return fits;
}

// Leaves out whom it can, the dearest first.
Preemption::Victims Preemption::spare(int g, Victims victims) {
  size_t tries = 0;
  for (size_t i = victims.size(); i-- > 0 && tries < kSpareTriesMax && victims.size() > 1; ++tries) {
    Victims fewer = victims;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (fits_without(g, fewer)) victims = std::move(fewer);
  }
  return victims;
}

std::optional<Preemption::Victims> Preemption::cheapest_single(int g, const std::vector<int>& all,
                                                               const Amounts& wanted) {
  std::optional<Victims> best;
  size_t tries = 0;
  for (size_t i = 0; i < all.size() && tries < kSingleTriesMax; ++i) {
    std::optional<EvictionCause> cause = right(g, all[i], wanted);
    if (!cause) continue;
    Victims alone = {{all[i], *cause}};
    if (best && !cheaper(alone, *best)) continue;
    ++tries;
    if (fits_without(g, alone)) best = std::move(alone);
  }
  return best;
}

// The shortest beginning of these that is enough, without those of it that can be spared.
std::optional<Preemption::Victims> Preemption::fewest_of(int g, const Victims& most) {
  if (most.empty() || !fits_without(g, most)) return std::nullopt;
  size_t low = 1;
  size_t high = most.size();
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    Victims some(most.begin(), most.begin() + static_cast<std::ptrdiff_t>(middle));
    if (fits_without(g, some)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return spare(g, Victims(most.begin(), most.begin() + static_cast<std::ptrdiff_t>(high)));
}

// The cheapest set of all, beginning with one that is known to do.
Preemption::Victims Preemption::cheapest_of_few(int g, const std::vector<int>& all, const Amounts& wanted,
                                                Victims best) {
  std::vector<Victims> sets;
  for (unsigned some = 1; some < 1U << all.size(); ++some) {
    std::vector<int> chosen;
    for (size_t i = 0; i < all.size(); ++i) {
      if ((some >> i & 1U) != 0) chosen.push_back(all[i]);
    }
    Victims victims = permitted(g, chosen, wanted);
    if (victims.size() == chosen.size() && cheaper(victims, best)) sets.push_back(std::move(victims));
  }
  std::stable_sort(sets.begin(), sets.end(),
                   [&](const Victims& a, const Victims& b) { return cheaper(a, b); });
  auto first = std::find_if(sets.begin(), sets.end(),
                            [&](const Victims& victims) { return fits_without(g, victims); });
  return first == sets.end() ? std::move(best) : std::move(*first);
}

bool Preemption::cheaper(const Victims& a, const Victims& b) const {
  auto cost = [&](const Victims& victims) {
    std::tuple<int, int64_t> highest{INT32_MIN, INT64_MIN};
    int pods = 0;
    Time youngest{INT64_MAX};
    for (const Victim& victim : victims) {
      int q = pass_.queue_of(victim.gang);
      highest = std::max(highest, std::tuple(q < 0 ? 0 : pass_.book.queue(q).priority,
                                             pass_.gang(victim.gang).class_priority));
      pods += pass_.pods_held(victim.gang);
      youngest = std::min(youngest, pass_.gang(victim.gang).queued_at);
    }
    return std::tuple(highest, pods, static_cast<int>(victims.size()), -youngest.ms);
  };
  return cost(a) < cost(b);
}

Amounts Preemption::may_take(int g, const Amounts& wanted) {
  Amounts out;
  for (const Victim& victim : permitted(g, candidates(g, wanted), wanted))
    add(out, pass_.held_by(victim.gang));
  return out;
}

std::optional<std::vector<Victim>> Preemption::find(int g) {
  Amounts wanted = pass_.wanted_by(g);
  std::vector<int> all = candidates(g, wanted);
  if (all.empty()) return std::nullopt;
  pass_.state.ensure(kSoon);
  pass_.state.use(kToClaim);
  std::optional<Victims> best = fewest_of(g, permitted(g, all, wanted));
  if (all.size() > 1) {
    std::optional<Victims> single = cheapest_single(g, all, wanted);
    if (single && (!best || cheaper(*single, *best))) best = std::move(single);
    if (!best) {  // a queue may have to give one large gang rather than several small ones
      large_first(all);
      best = fewest_of(g, permitted(g, all, wanted));
    }
  }
  if (best && all.size() > 1 && all.size() <= kFewCandidates) {
    best = cheapest_of_few(g, all, wanted, std::move(*best));
  } else if (best && all.size() > kFewCandidates) {
    small_first(all);
    std::optional<Victims> small = fewest_of(g, permitted(g, all, wanted));
    if (small && cheaper(*small, *best)) best = std::move(small);
  }
  pass_.state.use(kToBind);
  return best;
}

void Preemption::large_first(std::vector<int>& candidates) const {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](int a, int b) { return pass_.pods_held(a) > pass_.pods_held(b); });
}

// As they cost: by what they are, then by how many pods they have.
void Preemption::small_first(std::vector<int>& candidates) const {
  auto cost = [&](int v) {
    int q = pass_.queue_of(v);
    return std::tuple(q < 0 ? 0 : pass_.book.queue(q).priority, pass_.gang(v).class_priority,
                      pass_.pods_held(v));
  };
  std::stable_sort(candidates.begin(), candidates.end(), [&](int a, int b) { return cost(a) < cost(b); });
}

}  // namespace trainyard::sched
