#include "sched/standing.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "base/check.h"

namespace trainyard::sched {
namespace {

// Where a Level points to host ports of classes, those stay when the cluster gains classes.
static_assert(std::is_nothrow_move_constructible_v<PodClass>);

bool holds_a_place(const Member& member) {
  return member.state == MemberState::kPlaced || member.state == MemberState::kLeaving;
}

// Where a gang of that id is, or belongs, in a list that is ordered by id.
template <typename List>
auto spot_in(List& list, Standing::Gangs gangs, std::string_view id) {
  return std::lower_bound(list.begin(), list.end(), id, [&](int other, std::string_view wanted) {
    return std::string_view(gangs[static_cast<size_t>(other)].id) < wanted;
  });
}

const std::string& id_of(Standing::Gangs gangs, int g) { return gangs[static_cast<size_t>(g)].id; }

void insert(std::vector<int>& list, Standing::Gangs gangs, int g) {
  auto at = spot_in(list, gangs, id_of(gangs, g));
  CHECK(at == list.end() || id_of(gangs, *at) != id_of(gangs, g));
  list.insert(at, g);
}

void erase(std::vector<int>& list, Standing::Gangs gangs, int g) {
  auto at = spot_in(list, gangs, id_of(gangs, g));
  CHECK(at != list.end() && *at == g);
  list.erase(at);
}

}  // namespace

Standing::Standing(const Cluster& cluster, Gangs gangs)
    : tables_(cluster), now_(tables_), of_queues_(cluster.queues.size() + 1) {
  by_id_.resize(gangs.size());
  std::iota(by_id_.begin(), by_id_.end(), 0);
  auto id_before = [&](int a, int b) { return id_of(gangs, a) < id_of(gangs, b); };
  if (!std::is_sorted(by_id_.begin(), by_id_.end(), id_before))
    std::sort(by_id_.begin(), by_id_.end(), id_before);
  for (size_t i = 1; i < by_id_.size(); ++i) CHECK(id_of(gangs, by_id_[i - 1]) != id_of(gangs, by_id_[i]));
  for (const OtherPod& pod : cluster.others) add_other(pod);
  facts_.reserve(gangs.size());
  for (size_t g = 0; g < gangs.size(); ++g) facts_.push_back(read(gangs, static_cast<int>(g)));
  for (int g : by_id_) {
    if (facts_[static_cast<size_t>(g)].open) open_.push_back(g);
  }
}

Standing::Facts Standing::read(Gangs gangs, int g) {
  const Gang& gang = gangs[static_cast<size_t>(g)];
  for (const Member& member : gang.members) {
    CHECK(static_cast<size_t>(member.pod_class) < tables_.cluster().classes.size());
  }
  const Needs needs = needs_of(gang);
  Facts out{tables_.find_queue(gang.queue), needs.held, !needs.settled() || gang.asks_admission};
  count(gang, out.queue, 1);
  return out;
}

int Standing::find(Gangs gangs, std::string_view id) const {
  auto at = spot_in(by_id_, gangs, id);
  return at != by_id_.end() && id_of(gangs, *at) == id ? *at : -1;
}

void Standing::add(Gangs gangs, int g) {
  if (static_cast<size_t>(g) == facts_.size()) facts_.emplace_back();
  Facts& facts = facts_[static_cast<size_t>(g)];
  facts = read(gangs, g);
  insert(by_id_, gangs, g);
  if (facts.open) insert(open_, gangs, g);
}

void Standing::remove(Gangs gangs, int g) {
  const Facts& facts = facts_[static_cast<size_t>(g)];
  erase(by_id_, gangs, g);
  if (facts.open) erase(open_, gangs, g);
  count(gangs[static_cast<size_t>(g)], facts.queue, -1);
}

void Standing::move_last(Gangs gangs, int to) {
  const int last = static_cast<int>(facts_.size()) - 1;
  if (to != last) {
    *spot_in(by_id_, gangs, id_of(gangs, last)) = to;
    if (facts_.back().open) *spot_in(open_, gangs, id_of(gangs, last)) = to;
    facts_[static_cast<size_t>(to)] = facts_.back();
  }
  facts_.pop_back();
}

void Standing::count(const Gang& gang, int q, int times) {
  for (const Member& member : gang.members) {
    if (holds_a_place(member)) hold(tables_.rank_of(member.node), member.pod_class, q, times);
  }
}

void Standing::count_other(const OtherPod& pod, int times) {
  hold(tables_.rank_of(pod.node), pod.pod_class, -1, times);
}

// On a node that is gone it holds nothing.
void Standing::hold(int node, int pod_class, int q, int times) {
  if (node < 0) return;
  if (times > 0) {
    now_.take(tables_, node, pod_class, times);
  } else {
    now_.give(tables_, node, pod_class, -times);
  }
  sched::add(of_queues_[static_cast<size_t>(q) + 1], tables_.pod_class(pod_class).requests, times);
}

}  // namespace trainyard::sched
