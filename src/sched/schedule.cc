#include "sched/schedule.h"

#include "sched/admit.h"
#include "sched/order.h"
#include "sched/turn.h"

namespace trainyard::sched {
namespace {

// When age alone changes who goes first, or ends what a gang may wait for.
void set_wake(Pass& pass) {
  for (size_t i = 0; i < pass.gangs.size(); ++i) {
    int g = static_cast<int>(i);
    if (pass.needs_of(g).whole() || !pass.bound[i].empty()) continue;
    const Gang& gang = pass.gang(g);
    pass.wake_at(gang.queued_at + pass.policy.overdue_after);
    if (gang.schedule_timeout) pass.wake_at(gang.queued_at + *gang.schedule_timeout);
    if (pass.policy.aging_step.count() <= 0 || pass.waited(g) >= pass.policy.overdue_after) continue;
    pass.wake_at(gang.queued_at + pass.policy.aging_step * (pass.waited(g) / pass.policy.aging_step + 1));
  }
}

}  // namespace

Decisions schedule(const Cluster& cluster, std::span<const Gang> gangs, const Policy& policy, Time now) {
  Pass pass(cluster, gangs, policy, now);
  Turns turns(pass);
  turns.finish_evictions();
  Order order(pass);
  std::vector<int> had_turns;
  while (std::optional<int> g = order.next()) {
    turns.take_turn(*g);
    had_turns.push_back(*g);
  }
  turns.place_extras();
  admit(pass);
  set_wake(pass);
  auto tell = [&](int g) {
    for (const Spot& spot : pass.bound[static_cast<size_t>(g)]) {
      const Member& member = pass.gang(g).members[static_cast<size_t>(spot.member)];
      pass.out.bindings.push_back({pass.gang(g).id, member.uid, pass.tables.node(spot.node).name});
    }
  };
  for (int g : had_turns) tell(g);
  for (int g : pass.by_id) {
    if (pass.needs_of(g).whole()) tell(g);  // extras of gangs that run
  }
  return std::move(pass.out);
}

}  // namespace trainyard::sched
