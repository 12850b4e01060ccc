#include "sched/pass.h"

#include <algorithm>

#include "base/check.h"

namespace trainyard::sched {

Pass::Pass(const Standing& stands, std::span<const Gang> gangs_seen, const Policy& policy_set, Time at)
    : standing(stands),
      cluster(stands.tables().cluster()),
      gangs(gangs_seen),
      policy(policy_set),
      now(at),
      tables(stands.tables()),
      state(tables, stands.now()),
      views(tables),
      placer(tables, state, views, policy),
      book(tables),
      by_id(stands.by_id()),
      open(stands.open()),
      row_of_(gangs.size(), -1) {
  CHECK(stands.gangs() == gangs.size());
  read_what_is_there();
  let_leave();
  state.use(kToBind);
}

Pass::Row& Pass::row(int g) const {
  int& place = row_of_[static_cast<size_t>(g)];
  if (place >= 0) return rows_[static_cast<size_t>(place)];
  place = static_cast<int>(rows_.size());
  Row& fresh = rows_.emplace_back();
  fresh.needs = sched::needs_of(gang(g));
  for (const Member& member : gang(g).members) {
    if (member.state != MemberState::kPlaced || member.node < 0) continue;
    add(fresh.held, tables.pod_class(member.pod_class).requests);
  }
  return fresh;
}

bool Pass::is_touched(int g) const {
  const int place = row_of_[static_cast<size_t>(g)];
  if (place < 0) return false;
  const Row& known = rows_[static_cast<size_t>(place)];
  return known.evicted || !known.bound.empty();
}

bool Pass::is_in(int g, LevelMask level) const {
  const int place = row_of_[static_cast<size_t>(g)];
  return place < 0 || (rows_[static_cast<size_t>(place)].present & level) != 0;
}

void Pass::read_what_is_there() {
  for (int q = -1; q < static_cast<int>(cluster.queues.size()); ++q) {
    book.hold(Moment::kNow, q, standing.held_by_queue(q));
  }
  if (cluster.claims.empty()) return;
  auto mount = [&](int node, int pod_class) {
    if (node >= 0) state.mount(tables.rank_of(node), pod_class);
  };
  for (const OtherPod& pod : cluster.others) mount(pod.node, pod.pod_class);
  for (int g : by_id) {
    for (const Member& member : gang(g).members) {
      bool there = member.state == MemberState::kPlaced || member.state == MemberState::kLeaving;
      if (there) mount(member.node, member.pod_class);
    }
  }
}

// What is being deleted is gone soon.
void Pass::let_leave() {
  auto leave = [&](int q, int node, int pod_class) {
    if (node < 0) return;
    state.ensure(kSoon);
    state.give_in(kToClaim, tables.rank_of(node), pod_class);
    book.leave(q, tables.pod_class(pod_class).requests);
  };
  for (const OtherPod& pod : cluster.others) {
    if (pod.leaving) leave(-1, pod.node, pod.pod_class);
  }
  for (int g : open) {
    for (const Member& member : gang(g).members) {
      if (member.state == MemberState::kLeaving) leave(queue_of(g), member.node, member.pod_class);
    }
  }
}

int64_t Pass::points_of(int g) const {
  int64_t steps = policy.aging_step.count() > 0 ? std::max<int64_t>(0, waited(g) / policy.aging_step) : 0;
  return gang(g).job_priority + steps;
}

bool Pass::goes_first(int a, int b) const {
  const Gang& x = gang(a);
  const Gang& y = gang(b);
  if (x.class_priority != y.class_priority) return x.class_priority > y.class_priority;
  bool late = waited(a) >= policy.overdue_after;
  if (late != (waited(b) >= policy.overdue_after)) return late;
  if (late && x.queued_at != y.queued_at) return x.queued_at < y.queued_at;
  int64_t p = points_of(a);
  int64_t q = points_of(b);
  if (p != q) return p > q;
  if (x.queued_at != y.queued_at) return x.queued_at < y.queued_at;
  return x.id < y.id;
}

// One that was whole has waited since it was so no more.
std::optional<Time> Pass::times_out_at(int g) const {
  const Gang& of = gang(g);
  if (!of.schedule_timeout) return std::nullopt;
  bool broken = of.whole_once && needs_of(g).broken();
  return (broken ? of.broken_since.value_or(now) : of.queued_at) + *of.schedule_timeout;
}

bool Pass::timed_out(int g) const {
  std::optional<Time> at = times_out_at(g);
  return at && *at <= now;
}

unsigned Pass::lift(int g, unsigned mask) {
  unsigned& there = row(g).present;
  mask &= there;
  there &= ~mask;
  for (const Member& member : gang(g).members) {
    if (member.state == MemberState::kPlaced) {
      state.give_in(mask, tables.rank_of(member.node), member.pod_class);
    }
  }
  return mask;
}

Amounts Pass::requests_of(int g, const Spots& spots) const {
  Amounts sum;
  for (const Spot& spot : spots) {
    add(sum, tables.pod_class(gang(g).members[static_cast<size_t>(spot.member)].pod_class).requests);
  }
  return sum;
}

Amounts Pass::wanted_by(int g) const {
  Amounts sum;
  for (int m : needs_of(g).waiting) {
    add(sum, tables.pod_class(gang(g).members[static_cast<size_t>(m)].pod_class).requests);
  }
  return sum;
}

void Pass::evict(int g, EvictionCause cause, const std::string& beneficiary) {
  row(g).evicted = true;
  for (const Member& member : gang(g).members) {
    if (member.state == MemberState::kPlaced)
      out.evictions.push_back({gang(g).id, member.uid, cause, beneficiary});
  }
}

void Pass::wait(int g, WaitKind kind, WaitCode code, std::string text) {
  out.waiting.push_back({gang(g).id, kind, code, std::move(text), timed_out(g)});
}

void Pass::wake_at(Time time) {
  if (time > now && (!out.wake || time < *out.wake)) out.wake = time;
}

}  // namespace trainyard::sched
