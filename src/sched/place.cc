#include "sched/place.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "sched/fairness.h"
#include "sched/place_frame.h"

namespace trainyard::sched {

Placer::Placer(const Tables& tables, State& state, NodeViews& views, const Policy& policy)
    : tables_(tables),
      state_(state),
      views_(views),
      policy_(policy),
      steps_left_(policy.search_steps_pass_max) {}

std::vector<Batch> Placer::batches_of(const Gang& gang, const std::vector<int>& members) const {
  std::vector<Batch> out;
  std::map<std::pair<int, int>, size_t> index;  // order of first appearance, not of class numbers
  for (int m : members) {
    const Member& member = gang.members[static_cast<size_t>(m)];
    auto [at, fresh] = index.try_emplace({member.pod_class, member.role}, out.size());
    if (fresh) out.push_back({member.pod_class, member.role, {}});
    out[at->second].members.push_back(m);
  }
  return out;
}

// Those that want to be near others go last, so that the others are there.
void Placer::large_first(std::vector<Batch>& batches) const {
  auto follows = [&](const Batch& b) { return !tables_.pod_class(b.pod_class).near.empty(); };
  std::stable_sort(batches.begin(), batches.end(), [&](const Batch& a, const Batch& b) {
    if (follows(a) != follows(b)) return follows(b);
    Share x = dominant_share(tables_.pod_class(a.pod_class).requests, tables_.total(), 1);
    Share y = dominant_share(tables_.pod_class(b.pod_class).requests, tables_.total(), 1);
    return less(y, x);
  });
}

int Placer::pack(const Frame& frame, const Batch& batch, size_t skip, int wanted, Spots& spots) {
  NodeView& view = views_.of(batch.pod_class, frame.queue);
  const std::vector<Need>& needs = tables_.needs(batch.pod_class);
  bool one_by_one = tables_.looks_around(batch.pod_class);
  int placed = 0;
  for (int pos = view.next(state_, needs, 0); pos < view.size() && placed < wanted;
       pos = view.next(state_, needs, pos + 1)) {
    int node = view.node_at(pos);
    if (!frame.contains(node)) continue;
    int room = std::min(state_.room_for(node, batch.pod_class), wanted - placed);
    int taken = 0;
    if (!one_by_one) {
      state_.take(node, batch.pod_class, room);
      taken = room;
    }
    while (taken < room && state_.tolerates(node, batch.pod_class) &&
           state_.is_near(node, batch.pod_class, false)) {
      state_.take(node, batch.pod_class, 1);
      ++taken;
    }
    for (int i = 0; i < taken; ++i)
      spots.push_back({batch.members[skip + static_cast<size_t>(placed + i)], node});
    placed += taken;
  }
  return placed;
}

// Round after round, one to each node, beginning with nodes that have none of the role.
int Placer::spread(const Frame& frame, const Batch& batch, size_t skip, int wanted, Spots& spots) {
  NodeView& view = views_.of(batch.pod_class, frame.queue);
  const std::vector<Need>& needs = tables_.needs(batch.pod_class);
  std::map<int, int> on_node;
  for (const Member& member : frame.gang.members) {
    if (member.role == batch.role && member.state == MemberState::kPlaced)
      ++on_node[tables_.rank_of(member.node)];
  }
  for (const Spot& spot : spots) {
    if (frame.gang.members[static_cast<size_t>(spot.member)].role == batch.role) ++on_node[spot.node];
  }
  int most = 0;
  for (const auto& [_, count] : on_node) most = std::max(most, count);
  int placed = 0;
  bool progress = true;
  for (int round = 0; placed < wanted && (progress || round <= most); ++round) {
    progress = false;
    for (int pos = view.next(state_, needs, 0); pos < view.size() && placed < wanted;
         pos = view.next(state_, needs, pos + 1)) {
      int node = view.node_at(pos);
      if (!frame.contains(node) || on_node[node] > round || !state_.tolerates(node, batch.pod_class) ||
          !state_.is_near(node, batch.pod_class, false)) {
        continue;
      }
      state_.take(node, batch.pod_class, 1);
      ++on_node[node];
      spots.push_back({batch.members[skip + static_cast<size_t>(placed)], node});
      ++placed;
      progress = true;
    }
  }
  return placed;
}

// For pods that would like certain neighbours: every node is looked at.
int Placer::choose_best(const Frame& frame, const Batch& batch, size_t skip, int wanted, Spots& spots) {
  NodeView& view = views_.of(batch.pod_class, frame.queue);
  const std::vector<Need>& needs = tables_.needs(batch.pod_class);
  int placed = 0;
  for (; placed < wanted; ++placed) {
    int best = -1;
    int64_t best_score = 0;
    for (int pos = view.next(state_, needs, 0); pos < view.size(); pos = view.next(state_, needs, pos + 1)) {
      int node = view.node_at(pos);
      if (!frame.contains(node) || !state_.tolerates(node, batch.pod_class) ||
          !state_.is_near(node, batch.pod_class, false)) {
        continue;
      }
      int64_t score = state_.preference(node, batch.pod_class);
      if (best >= 0 && score <= best_score) continue;
      best = node;
      best_score = score;
    }
    if (best < 0) break;
    state_.take(best, batch.pod_class, 1);
    spots.push_back({batch.members[skip + static_cast<size_t>(placed)], best});
  }
  return placed;
}

int Placer::place_batch(const Frame& frame, const Batch& batch, size_t skip, int wanted, Spots& spots) {
  wanted = std::min(wanted, static_cast<int>(batch.members.size() - skip));
  if (wanted <= 0) return 0;
  if (!tables_.pod_class(batch.pod_class).preferred.empty()) {
    return choose_best(frame, batch, skip, wanted, spots);
  }
  switch (frame.gang.roles[static_cast<size_t>(batch.role)].arrangement) {
    case Arrangement::kPack:
      return pack(frame, batch, skip, wanted, spots);
    case Arrangement::kSpread:
      return spread(frame, batch, skip, wanted, spots);
  }
  return 0;
}

// `hopeless`: no other way could do better, so that no search is needed.
bool Placer::place_greedily(const Frame& frame, const Needs& needs, const std::vector<Batch>& batches,
                            Spots& spots, bool& hopeless) {
  std::vector<int> role_left = needs.by_role;
  std::vector<size_t> used(batches.size(), 0);
  int left = needs.total;
  bool all_needed = static_cast<size_t>(needs.total) == needs.waiting.size();
  hopeless = batches.size() == 1 && !tables_.looks_around(batches.front().pod_class);
  for (size_t b = 0; b < batches.size(); ++b) {
    int& needed = role_left[static_cast<size_t>(batches[b].role)];
    int wanted = all_needed ? static_cast<int>(batches[b].members.size()) : std::min(needed, left);
    int placed = place_batch(frame, batches[b], 0, wanted, spots);
    used[b] = static_cast<size_t>(placed);
    needed -= placed;
    left -= placed;
    if (all_needed && used[b] < batches[b].members.size()) {
      hopeless = hopeless || (b == 0 && !tables_.looks_around(batches[b].pod_class));
      return false;
    }
  }
  if (std::any_of(role_left.begin(), role_left.end(), [](int lacking) { return lacking > 0; })) return false;
  std::vector<size_t> in_order(batches.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  std::sort(in_order.begin(), in_order.end(),
            [&](size_t a, size_t b) { return batches[a].members.front() < batches[b].members.front(); });
  for (size_t b : in_order) left -= place_batch(frame, batches[b], used[b], left, spots);
  return left <= 0;
}

bool Placer::all_near(const Gang& gang, const Spots& spots) const {
  return std::all_of(spots.begin(), spots.end(), [&](const Spot& spot) {
    return state_.is_near(spot.node, gang.members[static_cast<size_t>(spot.member)].pod_class, true);
  });
}

std::optional<Spots> Placer::place_in(const Frame& frame, const Needs& needs) {
  std::vector<Batch> batches = batches_of(frame.gang, needs.waiting);
  large_first(batches);
  size_t mark = state_.mark();
  Spots spots;
  bool hopeless = false;
  bool found = !batches.empty() && place_greedily(frame, needs, batches, spots, hopeless) &&
               all_near(frame.gang, spots);
  if (!found) {
    state_.roll_back(mark);
    if (batches.empty() || hopeless || needs.waiting.size() > kSearchMembersMax) return std::nullopt;
    Search search(*this, frame, needs, batches, std::min(policy_.search_steps_max, steps_left_));
    found = search.run();
    steps_left_ -= search.steps();
    if (!found) {
      state_.roll_back(mark);
      return std::nullopt;
    }
    spots = search.spots();
  }
  std::sort(spots.begin(), spots.end(), [](const Spot& a, const Spot& b) { return a.member < b.member; });
  return spots;
}

// Where the gang has members already, else the domain with the least room first: what is
// left over elsewhere stays large.
std::vector<int> Placer::domains_to_try(const Gang& gang, const Needs& needs, const Domains& domains) const {
  for (const Member& member : gang.members) {
    int node = tables_.rank_of(member.node);
    if (member.state != MemberState::kPlaced || node < 0) continue;
    return {domains.of_node[static_cast<size_t>(node)]};
  }
  Amounts wanted;
  for (int m : needs.waiting) {
    add(wanted, tables_.pod_class(gang.members[static_cast<size_t>(m)].pod_class).requests);
  }
  int scarcest = dominant_resource(wanted, tables_.total());
  std::vector<int64_t> room(domains.names.size(), 0);
  for (int n = 0; n < tables_.nodes(); ++n) {
    int domain = domains.of_node[static_cast<size_t>(n)];
    if (domain >= 0) room[static_cast<size_t>(domain)] += std::max<int64_t>(0, state_.usable(n)[scarcest]);
  }
  std::vector<int> out(domains.names.size());
  std::iota(out.begin(), out.end(), 0);
  std::stable_sort(out.begin(), out.end(),
                   [&](int a, int b) { return room[static_cast<size_t>(a)] < room[static_cast<size_t>(b)]; });
  return out;
}

std::optional<Spots> Placer::place_needed(const Gang& gang, const Needs& needs, int queue) {
  if (gang.domain_key.empty()) return place_in({gang, queue}, needs);
  const Domains& domains = tables_.domains(gang.domain_key);
  for (int domain : domains_to_try(gang, needs, domains)) {
    if (domain < 0) continue;
    if (std::optional<Spots> spots = place_in({gang, queue, &domains, domain}, needs)) return spots;
  }
  return gang.domain_required ? std::nullopt : place_in({gang, queue}, needs);
}

Spots Placer::place_extra(const Gang& gang, const std::vector<int>& members, int queue,
                          const Spots& already) {
  Frame frame{gang, queue};
  if (gang.domain_required && !gang.domain_key.empty()) {
    const Domains& domains = tables_.domains(gang.domain_key);
    std::vector<int> tried = domains_to_try(gang, Needs{}, domains);
    frame.domains = &domains;
    if (!already.empty()) {
      frame.domain = domains.of_node[static_cast<size_t>(already.front().node)];
    } else if (!tried.empty()) {
      frame.domain = tried.front();
    }
  }
  Spots spots = already;
  for (const Batch& batch : batches_of(gang, members)) {
    place_batch(frame, batch, 0, static_cast<int>(batch.members.size()), spots);
  }
  spots.erase(spots.begin(), spots.begin() + static_cast<std::ptrdiff_t>(already.size()));
  std::sort(spots.begin(), spots.end(), [](const Spot& a, const Spot& b) { return a.member < b.member; });
  return spots;
}

}  // namespace trainyard::sched
