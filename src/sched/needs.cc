#include "sched/needs.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace trainyard::sched {

namespace {

int sum_of(const std::vector<int>& counts) {
  int64_t sum = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  return static_cast<int>(std::min<int64_t>(sum, std::numeric_limits<int>::max()));
}

}  // namespace

Needs needs_of(const Gang& gang) {
  CHECK(!gang.roles.empty());
  Needs out;
  int there = 0;
  std::vector<int> there_by_role(gang.roles.size(), 0);
  std::vector<int> waiting_by_role(gang.roles.size(), 0);
  for (size_t i = 0; i < gang.members.size(); ++i) {
    const Member& member = gang.members[i];
    auto role = static_cast<size_t>(member.role);
    CHECK(role < gang.roles.size());
    switch (member.state) {
      case MemberState::kWaiting:
        out.waiting.push_back(static_cast<int>(i));
        ++waiting_by_role[role];
        break;
      case MemberState::kPlaced:
      case MemberState::kSucceeded:
        ++(member.state == MemberState::kPlaced ? out.held : out.succeeded);
        ++there;
        ++there_by_role[role];
        break;
      case MemberState::kLeaving:
        ++out.leaving;
        out.evicting = out.evicting || member.evicted;
        break;
      case MemberState::kHeldBack:
        ++out.held_back;
        break;
      case MemberState::kGated:
      case MemberState::kFailed:
        break;
    }
  }
  out.by_role.assign(gang.roles.size(), 0);
  out.absent_by_role.assign(gang.roles.size(), 0);
  for (size_t role = 0; role < gang.roles.size(); ++role) {
    out.by_role[role] = std::max(0, gang.roles[role].min - there_by_role[role]);
    out.absent_by_role[role] = std::max(0, out.by_role[role] - waiting_by_role[role]);
  }
  int for_roles = sum_of(out.by_role);
  int absent_for_roles = sum_of(out.absent_by_role);
  out.total = std::max({0, gang.min_member - there, for_roles});
  out.absent = std::max(absent_for_roles, out.total - static_cast<int>(out.waiting.size()));
  return out;
}

}  // namespace trainyard::sched
