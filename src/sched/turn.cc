#include "sched/turn.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "sched/neighbours.h"
#include "sched/reasons.h"
#include "sched/reserve.h"

namespace trainyard::sched {
namespace {

// A gang in part whose pods are being made one after the other is not torn up meanwhile.
constexpr Duration kMadeAnewWithin{5'000};
constexpr int kKeptMembersMax = 10'000;  // for more that are not there no room is kept
constexpr int kDetailedReasonsMax = 20;  // beyond, a reason does not say who frees what

}  // namespace

void Turns::take_turn(int g) {
  pass_.views.trim();
  last_refusal_.reset();
  if (cannot_start(g)) return;
  if (blocked_ && !pass_.policy.backfill) {
    pass_.wait(g, WaitKind::kWaitFor, WaitCode::kBehindReserved, "waits behind a gang that does not fit yet");
    return;
  }
  bool fresh = pass_.needs_of(g).held == 0;
  Shape shape = fresh ? shape_of(g) : Shape{};
  if (auto found = in_vain_.find(shape); fresh && found != in_vain_.end()) {
    pass_.wait(g, found->second.kind, found->second.code, found->second.text);
    maybe_reserve(g, found->second);
    return;
  }
  if (bind(g, kToBind)) return;
  if (ends_before_reserved(pass_, g) && bind(g, kToBindShort)) return;
  if (claim(g) || preempt(g)) return;
  give_up(g);
  const Waiting& told = pass_.out.waiting.back();
  if (fresh) in_vain_.emplace(std::move(shape), Refusal{told.kind, told.code, told.text});
}

bool Turns::cannot_start(int g) {
  const Gang& gang = pass_.gang(g);
  const Needs& needs = pass_.needs_of(g);
  int q = pass_.queue_of(g);
  if (pass_.row(g).evicted) {
    pass_.wait(g, WaitKind::kWaitFor, WaitCode::kOwnMembers,
               "was made to leave; starts anew when all are gone");
  } else if (needs.evicting) {
    pass_.wait(g, WaitKind::kWaitFor, WaitCode::kOwnMembers,
               fmt::format("{} of its former pods are still leaving", needs.leaving));
  } else if (!gang.group_exists) {
    pass_.wait(g, WaitKind::kWaitFor, WaitCode::kNoGroup,
               fmt::format("its pods name PodGroup {}, which does not exist", gang.name));
  } else if (q < 0) {
    if (needs.broken()) release(g);
    pass_.wait(g, WaitKind::kInfeasible, WaitCode::kNoQueue,
               fmt::format("queue {} does not exist: create it, or name another", gang.queue));
  } else if (std::optional<Refusal> no = pass_.book.turns_away(q, gang.ns, needs.begun())) {
    if (needs.broken()) release(g);
    pass_.wait(g, no->kind, no->code, std::move(no->text));
  } else if (needs.absent > 0) {
    if (needs.broken()) keep_place(g);
    // One that waits to be let in is answered by admit.
    if (needs.held_back > 0) {
      pass_.wait(g, WaitKind::kWaitFor, WaitCode::kClaims, gang.lacks_claim);
    } else if (!gang.asks_admission) {
      pass_.wait(g, WaitKind::kWaitFor, WaitCode::kMembersMissing, missing_members_text(gang, needs));
    }
  } else {
    return false;
  }
  return true;
}

// Pods that a broken gang lost and does not have anew yet: for a while room is kept for others like them.
// Those that run go on when the time is over: what was lost may have been done, and nobody waits with them
// for what others hold. A gang that was never whole, and of which some wait, gives back what it has.
void Turns::keep_place(int g) {
  const Gang& gang = pass_.gang(g);
  Time until = gang.broken_since.value_or(pass_.now) + pass_.policy.hold_place;
  if (!gang.whole_once) {
    bool others_wait = !pass_.needs_of(g).waiting.empty() || pass_.needs_of(g).held_back > 0;
    Time made_by = gang.broken_since.value_or(pass_.now) + kMadeAnewWithin;
    if (others_wait && made_by <= pass_.now) release(g);
    if (others_wait && gang.broken_since) pass_.wake_at(made_by);
    return;
  }
  if (until <= pass_.now || pass_.needs_of(g).absent > kKeptMembersMax) return;
  if (gang.broken_since) pass_.wake_at(until);
  Gang wished = gang;
  Needs needs = pass_.needs_of(g);
  for (int missing = needs.absent, role = 0; missing > 0; ++role) {
    size_t at = static_cast<size_t>(role) % gang.roles.size();
    bool any_role = static_cast<size_t>(role) >= gang.roles.size();
    int wanted = any_role ? missing : needs.absent_by_role[at];
    auto like = std::find_if(gang.members.begin(), gang.members.end(), [&](const Member& member) {
      return any_role || member.role == static_cast<int>(at);
    });
    missing -= wanted;
    for (; wanted > 0 && like != gang.members.end(); --wanted) {
      wished.members.push_back({"", "", like->role, like->pod_class});
    }
  }
  needs = needs_of(wished);
  if (needs.absent > 0) return;  // nobody knows what they will look like
  pass_.state.ensure(kSoon);
  pass_.state.use(kToClaim);
  if (std::optional<Spots> spots = pass_.placer.place_needed(wished, needs, pass_.queue_of(g))) {
    Amounts kept;
    for (const Spot& spot : *spots) {
      add(kept, pass_.tables.pod_class(wished.members[static_cast<size_t>(spot.member)].pod_class).requests);
    }
    promise(g, kept);
  }
  pass_.state.use(kToBind);
}

void Turns::promise(int g, const Amounts& room) {
  pass_.book.hold(Moment::kSoon, pass_.queue_of(g), room);
  pass_.row(g).promised = true;
}

// When it is clear beforehand what would be placed, the queue is asked first: it is cheaper.
std::optional<Refusal> Turns::refused_at_once(int g, Moment when) const {
  const Needs& needs = pass_.needs_of(g);
  if (static_cast<size_t>(needs.total) != needs.waiting.size()) return std::nullopt;
  Spots all;
  for (int m : needs.waiting) all.push_back({m, 0});
  return pass_.book.refuses(pass_.queue_of(g), pass_.requests_of(g, all), when);
}

bool Turns::bind(int g, unsigned levels) {
  int q = pass_.queue_of(g);
  last_refusal_ = refused_at_once(g, Moment::kNow);
  if (last_refusal_) return false;
  pass_.state.use(levels);
  size_t mark = pass_.state.mark();
  std::optional<Spots> spots = pass_.placer.place_needed(pass_.gang(g), pass_.needs_of(g), q);
  if (spots) last_refusal_ = pass_.book.refuses(q, pass_.requests_of(g, *spots), Moment::kNow);
  bool done = spots && !last_refusal_;
  if (done) {
    pass_.book.hold(Moment::kNow, q, pass_.requests_of(g, *spots));
    pass_.row(g).bound = std::move(*spots);
  } else {
    pass_.state.roll_back(mark);
  }
  pass_.state.use(kToBind);
  return done;
}

// What it needs is becoming free without anybody's doing: it is promised to the gang.
bool Turns::claim(int g) {
  if (!pass_.state.has(kSoon)) return false;
  int q = pass_.queue_of(g);
  pass_.state.use(kToClaim);
  size_t mark = pass_.state.mark();
  std::optional<Spots> spots = pass_.placer.place_needed(pass_.gang(g), pass_.needs_of(g), q);
  bool done = spots && !pass_.book.refuses(q, pass_.requests_of(g, *spots), Moment::kSoon);
  if (done) {
    promise(g, pass_.requests_of(g, *spots));
    pass_.wait(g, WaitKind::kWaitFor, WaitCode::kLeaving,
               "starts when pods that are being deleted have gone");
  } else {
    pass_.state.roll_back(mark);
  }
  pass_.state.use(kToBind);
  return done;
}

bool Turns::preempt(int g) {
  bool wanted = pass_.policy.preempt || pass_.policy.reclaim || pass_.needs_of(g).broken();
  if (!wanted || preempt_tries_ >= pass_.policy.preempt_tries_max) return false;
  ++preempt_tries_;
  std::optional<std::vector<Victim>> victims = preemption_.find(g);
  if (!victims) return false;
  pass_.state.ensure(kSoon);
  pass_.state.use(kToClaim);
  size_t mark = pass_.state.mark();
  std::vector<unsigned> masks;
  for (const Victim& victim : *victims) masks.push_back(pass_.lift(victim.gang, kToClaim));
  std::optional<Spots> spots = pass_.placer.place_needed(pass_.gang(g), pass_.needs_of(g), pass_.queue_of(g));
  if (!spots) {  // the search has used up its steps: not this time
    pass_.state.roll_back(mark);
    for (size_t i = 0; i < victims->size(); ++i) pass_.undo_lift((*victims)[i].gang, masks[i]);
    pass_.state.use(kToBind);
    return false;
  }
  std::string names;
  for (const Victim& victim : *victims) {
    const Gang& leaving = pass_.gang(victim.gang);
    pass_.book.leave(pass_.queue_of(victim.gang), pass_.held_by(victim.gang));
    pass_.evict(victim.gang, victim.cause, pass_.gang(g).id);
    names += fmt::format("{}{}/{}", names.empty() ? "" : ", ", leaving.ns, leaving.name);
  }
  promise(g, pass_.requests_of(g, *spots));
  pass_.wait(g, WaitKind::kWaitFor, WaitCode::kLeaving, fmt::format("starts when {} has made room", names));
  pass_.state.use(kToBind);
  return true;
}

void Turns::give_up(int g) {
  Refusal why = explain(g);
  bool released = pass_.needs_of(g).broken() && release(g);
  if (released) why.text += "; gives back what it holds of its nodes until all of it fits";
  pass_.wait(g, why.kind, why.code, why.text);
  blocked_ = blocked_ || why.kind == WaitKind::kWaitFor;
  if (!released) maybe_reserve(g, why);
}

// A gang that was never whole holds nothing; one that was keeps its place for a while.
bool Turns::release(int g) {
  const Gang& gang = pass_.gang(g);
  Time until = gang.broken_since.value_or(pass_.now) + pass_.policy.hold_place;
  if (gang.whole_once && until > pass_.now && !pass_.timed_out(g)) {
    if (gang.broken_since) pass_.wake_at(until);
    return false;
  }
  pass_.state.ensure(kSoon);
  pass_.lift(g, kToClaim);
  pass_.book.leave(pass_.queue_of(g), pass_.held_by(g));
  pass_.evict(g, EvictionCause::kReleased, "");
  pass_.state.use(kToBind);
  return true;
}

void Turns::maybe_reserve(int g, const Refusal& why) {
  bool by_nodes = why.kind == WaitKind::kWaitFor && why.code == WaitCode::kResources;
  if (!by_nodes || pass_.out.reservation || !pass_.policy.backfill || pass_.timed_out(g)) return;
  if (pass_.waited(g) >= pass_.policy.reserve_after) {
    reserve(pass_, g);
  } else {
    pass_.wake_at(pass_.gang(g).queued_at + pass_.policy.reserve_after);
  }
}

Refusal Turns::explain(int g) {
  if (last_refusal_) return *last_refusal_;
  // Asked first: what fits now may not fit on an empty cluster, where nothing is that it wants to be near.
  if (pass_.out.reservation) {
    pass_.state.use(kToBindShort);
    size_t mark = pass_.state.mark();
    bool fits = pass_.placer.place_needed(pass_.gang(g), pass_.needs_of(g), pass_.queue_of(g)).has_value();
    pass_.state.roll_back(mark);
    pass_.state.use(kToBind);
    if (fits) {
      auto first = std::find_if(pass_.gangs.begin(), pass_.gangs.end(),
                                [&](const Gang& one) { return one.id == pass_.out.reservation->gang; });
      return {WaitKind::kWaitFor, WaitCode::kBehindReserved,
              fmt::format("fits, but would delay {}/{}, which has waited longer", first->ns, first->name)};
    }
  }
  if (std::string lack = lacking_volumes_text(pass_, g); !lack.empty()) {
    return {WaitKind::kWaitFor, WaitCode::kClaims, lack};
  }
  if (pass_.needs_of(g).held == 0 && !fits_empty_cluster(g)) {
    if (std::optional<Refusal> never = never_fits_a_node(pass_, g)) return *never;
    if (!follows_others(pass_, g)) {
      return {WaitKind::kInfeasible, WaitCode::kTooLarge, too_large_text(pass_, g)};
    }
  }
  bool in_detail = ++reasons_given_ <= kDetailedReasonsMax;
  return {WaitKind::kWaitFor, WaitCode::kResources, shortage_text(pass_, g, in_detail)};
}

void Turns::make_empty_level() {
  if (pass_.state.has(kEmpty)) return;
  pass_.state.ensure(kEmpty);
  for (const OtherPod& pod : pass_.cluster.others) {
    if (pod.leaving) pass_.state.give_in(kEmpty, pass_.tables.rank_of(pod.node), pod.pod_class);
  }
  for (size_t g = 0; g < pass_.gangs.size(); ++g) {
    for (const Member& member : pass_.gangs[g].members) {
      if (member.state != MemberState::kPlaced && member.state != MemberState::kLeaving) continue;
      pass_.state.give_in(kEmpty, pass_.tables.rank_of(member.node), member.pod_class);
    }
  }
  for (int g : pass_.open) {
    for (const Spot& spot : pass_.row(g).bound) {
      int pod_class = pass_.gang(g).members[static_cast<size_t>(spot.member)].pod_class;
      pass_.state.give_in(kEmpty, spot.node, pod_class);
    }
  }
}

bool Turns::fits_empty_cluster(int g) {
  make_empty_level();
  pass_.state.use(kEmpty);
  size_t mark = pass_.state.mark();
  bool fits = pass_.placer.place_needed(pass_.gang(g), pass_.needs_of(g), pass_.queue_of(g)).has_value();
  pass_.state.roll_back(mark);
  pass_.state.use(kToBind);
  return fits;
}

Turns::Shape Turns::shape_of(int g) const {
  const Gang& gang = pass_.gang(g);
  const Needs& needs = pass_.needs_of(g);
  Shape out = {pass_.queue_of(g),
               gang.class_priority,
               gang.may_preempt,
               gang.domain_required,
               static_cast<int64_t>(fnv1a(gang.domain_key)),
               needs.total,
               gang.runs_at_most ? gang.runs_at_most->count() : -1};
  for (size_t role = 0; role < gang.roles.size(); ++role) {
    out.push_back(needs.by_role[role]);
    out.push_back(static_cast<int64_t>(gang.roles[role].arrangement));
  }
  int64_t count = 0;
  for (size_t i = 0; i < needs.waiting.size(); ++i) {
    const Member& member = gang.members[static_cast<size_t>(needs.waiting[i])];
    const Member* next =
        i + 1 < needs.waiting.size() ? &gang.members[static_cast<size_t>(needs.waiting[i + 1])] : nullptr;
    ++count;
    if (next != nullptr && next->pod_class == member.pod_class && next->role == member.role) continue;
    out.insert(out.end(), {member.pod_class, member.role, count});
    count = 0;
  }
  return out;
}

void Turns::finish_evictions() {
  for (int g : pass_.open) {
    const Needs& needs = pass_.needs_of(g);
    // One that is whole without them goes on; for whom they made room has its turn.
    if (!needs.evicting || needs.held == 0 || needs.whole()) continue;
    pass_.state.ensure(kSoon);
    pass_.lift(g, kToClaim);
    pass_.book.leave(pass_.queue_of(g), pass_.held_by(g));
    pass_.evict(g, EvictionCause::kCompleted, "");
  }
  pass_.state.use(kToBind);
}

// As many of these at once as the queue takes; those that are refused even alone go, with all that are like
// them: why the queue refused the first of those.
std::optional<Refusal> Turns::add_extras(int g, std::vector<int> left) {
  Spots& all = pass_.row(g).bound;
  const Gang& gang = pass_.gang(g);
  int q = pass_.queue_of(g);
  auto class_of = [&](int m) { return gang.members[static_cast<size_t>(m)].pod_class; };
  std::optional<Refusal> why;
  for (size_t chunk = left.size(); !left.empty();) {
    chunk = std::min(chunk, left.size());
    auto end = left.begin() + static_cast<std::ptrdiff_t>(chunk);
    size_t mark = pass_.state.mark();
    Spots spots = pass_.placer.place_extra(gang, {left.begin(), end}, q, all);
    Amounts wanted = pass_.requests_of(g, spots);
    if (std::optional<Refusal> no = pass_.book.refuses(q, wanted, Moment::kNow)) {
      pass_.state.roll_back(mark);
      int refused = class_of(left.front());
      if (chunk == 1 && !why) why = std::move(no);
      if (chunk == 1) std::erase_if(left, [&](int m) { return class_of(m) == refused; });
      chunk = std::max<size_t>(1, chunk / 2);
      continue;
    }
    pass_.book.hold(Moment::kNow, q, wanted);
    all.insert(all.end(), spots.begin(), spots.end());
    left.erase(left.begin(), end);
  }
  std::sort(all.begin(), all.end(), [](const Spot& a, const Spot& b) { return a.member < b.member; });
  return why;
}

void Turns::place_extras_of(int g) {
  const Pass::Row& row = pass_.row(g);
  const Gang& gang = pass_.gang(g);
  // What is bound in this pass was let in.
  bool begun = row.needs.begun() || !row.bound.empty();
  if (std::optional<Refusal> no = pass_.book.turns_away(pass_.queue_of(g), gang.ns, begun)) {
    return pass_.wait(g, no->kind, no->code, std::move(no->text));
  }
  std::set<int> placed;
  for (const Spot& spot : row.bound) placed.insert(spot.member);
  std::vector<int> left;
  for (int m : row.needs.waiting) {
    if (!placed.contains(m)) left.push_back(m);
  }
  const std::optional<Refusal> refusal = add_extras(g, std::move(left));
  if (row.needs.waiting.size() > row.bound.size()) {
    pass_.wait(g, WaitKind::kWaitFor, WaitCode::kExtraMembers,
               extra_members_text(pass_, g, refusal ? refusal->text : ""));
  } else if (row.needs.held_back > 0) {
    pass_.wait(g, WaitKind::kWaitFor, WaitCode::kClaims, gang.lacks_claim);
  }
}

void Turns::place_extras() {
  std::vector<int> with_extras;
  for (int g : pass_.open) {
    const Pass::Row& row = pass_.row(g);
    bool whole = row.needs.whole() ? !row.needs.evicting : !row.bound.empty();
    bool more = row.needs.waiting.size() > row.bound.size() || row.needs.held_back > 0;
    if (whole && more && pass_.queue_of(g) >= 0 && !row.evicted) with_extras.push_back(g);
  }
  std::stable_sort(with_extras.begin(), with_extras.end(), [&](int a, int b) {
    int x = pass_.book.queue(pass_.queue_of(a)).priority;
    int y = pass_.book.queue(pass_.queue_of(b)).priority;
    return x != y ? x > y : pass_.goes_first(a, b);
  });
  for (int g : with_extras) place_extras_of(g);
}

}  // namespace trainyard::sched
