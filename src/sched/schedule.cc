#include "sched/schedule.h"

#include <map>
#include <set>

#include "sched/admit.h"
#include "sched/order.h"
#include "sched/turn.h"

namespace trainyard::sched {
namespace {

// When age alone changes who goes first, or ends what a gang may wait for.
void set_wake(Pass& pass) {
  for (int g : pass.open) {
    if (pass.needs_of(g).whole() || !pass.row(g).bound.empty()) continue;
    const Gang& gang = pass.gang(g);
    pass.wake_at(gang.queued_at + pass.policy.overdue_after);
    if (std::optional<Time> at = pass.times_out_at(g)) pass.wake_at(*at);
    if (pass.policy.aging_step.count() <= 0 || pass.waited(g) >= pass.policy.overdue_after) continue;
    pass.wake_at(gang.queued_at + pass.policy.aging_step * (pass.waited(g) / pass.policy.aging_step + 1));
  }
}

void tell_bindings(Pass& pass, int g) {
  const Gang& gang = pass.gang(g);
  std::set<int> claims;
  for (const Spot& spot : pass.row(g).bound) {
    const Member& member = gang.members[static_cast<size_t>(spot.member)];
    pass.out.bindings.push_back({gang.id, member.uid, pass.tables.node(spot.node).name});
    const std::vector<int>& mounted = pass.tables.pod_class(member.pod_class).claims;
    claims.insert(mounted.begin(), mounted.end());
  }
  std::map<std::string, std::string> chosen;
  for (int claim : claims) {
    int source = pass.state.source_now(claim);
    if (source < 0) continue;
    chosen[pass.cluster.claims[static_cast<size_t>(claim)].key] =
        pass.cluster.sources[static_cast<size_t>(source)].volume;
  }
  for (const auto& [claim, volume] : chosen) {
    if (!volume.empty()) pass.out.volumes.push_back({gang.id, claim, volume});
  }
}

}  // namespace

Decisions schedule(const Cluster& cluster, std::span<const Gang> gangs, const Policy& policy, Time now) {
  return schedule(Standing(cluster, gangs), gangs, policy, now);
}

Decisions schedule(const Standing& standing, std::span<const Gang> gangs, const Policy& policy, Time now) {
  Pass pass(standing, gangs, policy, now);
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
  for (int g : had_turns) tell_bindings(pass, g);
  for (int g : pass.open) {
    if (pass.needs_of(g).whole()) tell_bindings(pass, g);  // extras of gangs that run
  }
  return std::move(pass.out);
}

}  // namespace trainyard::sched
