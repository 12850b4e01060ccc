#include "sched/pass.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace trainyard::sched {

Pass::Pass(const Cluster& cluster_seen, std::span<const Gang> gangs_seen, const Policy& policy_set, Time at)
    : cluster(cluster_seen),
      gangs(gangs_seen),
      policy(policy_set),
      now(at),
      tables(cluster),
      state(tables),
      views(tables),
      placer(tables, state, views, policy),
      book(tables) {
  by_id.resize(gangs.size());
  std::iota(by_id.begin(), by_id.end(), 0);
  auto id_before = [&](int a, int b) { return gang(a).id < gang(b).id; };
  // They come in order from a snapshot that is kept.
  if (!std::is_sorted(by_id.begin(), by_id.end(), id_before))
    std::sort(by_id.begin(), by_id.end(), id_before);
  for (size_t i = 1; i < by_id.size(); ++i) CHECK(gang(by_id[i - 1]).id != gang(by_id[i]).id);
  held.resize(gangs.size());
  bound.resize(gangs.size());
  evicted.assign(gangs.size(), false);
  promised.assign(gangs.size(), false);
  held_up.assign(gangs.size(), false);
  present.assign(gangs.size(), kNow | kSoon | kShadow);
  for (size_t g = 0; g < gangs.size(); ++g) read_gang(static_cast<int>(g));
  place_what_is_there();
  let_leave();
  state.use(kToBind);
}

void Pass::read_gang(int g) {
  needs.push_back(sched::needs_of(gang(g)));
  queue.push_back(book.find(gang(g).queue));
  int64_t steps = policy.aging_step.count() > 0 ? std::max<int64_t>(0, waited(g) / policy.aging_step) : 0;
  points.push_back(gang(g).job_priority + steps);
  for (const Member& member : gang(g).members) {
    CHECK(static_cast<size_t>(member.pod_class) < cluster.classes.size());
  }
}

void Pass::place_what_is_there() {
  std::vector<Amounts> of_queues(cluster.queues.size() + 1);  // last: of no queue
  auto of_queue = [&](int q) -> Amounts& {
    return q < 0 ? of_queues.back() : of_queues[static_cast<size_t>(q)];
  };
  for (const OtherPod& pod : cluster.others) {
    state.take_in(kNow, tables.rank_of(pod.node), pod.pod_class);
    add(of_queue(-1), tables.pod_class(pod.pod_class).requests);
  }
  for (size_t g = 0; g < gangs.size(); ++g) {
    for (const Member& member : gangs[g].members) {
      if (member.state != MemberState::kPlaced && member.state != MemberState::kLeaving) continue;
      state.take_in(kNow, tables.rank_of(member.node), member.pod_class);
      if (member.node < 0) continue;
      const Amounts& requests = tables.pod_class(member.pod_class).requests;
      add(of_queue(queue[g]), requests);
      if (member.state == MemberState::kPlaced) add(held[g], requests);
    }
  }
  for (int q = -1; q < static_cast<int>(cluster.queues.size()); ++q) book.hold(Moment::kNow, q, of_queue(q));
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
  for (size_t g = 0; g < gangs.size(); ++g) {
    for (const Member& member : gangs[g].members) {
      if (member.state == MemberState::kLeaving) leave(queue[g], member.node, member.pod_class);
    }
  }
}

bool Pass::goes_first(int a, int b) const {
  const Gang& x = gang(a);
  const Gang& y = gang(b);
  if (x.class_priority != y.class_priority) return x.class_priority > y.class_priority;
  bool late = waited(a) >= policy.overdue_after;
  if (late != (waited(b) >= policy.overdue_after)) return late;
  if (late && x.queued_at != y.queued_at) return x.queued_at < y.queued_at;
  int64_t p = points[static_cast<size_t>(a)];
  int64_t q = points[static_cast<size_t>(b)];
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
  unsigned& there = present[static_cast<size_t>(g)];
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
  evicted[static_cast<size_t>(g)] = true;
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
