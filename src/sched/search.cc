#include <algorithm>

#include "sched/place_frame.h"

namespace trainyard::sched {

Search::Search(Placer& placer, const Placer::Frame& frame, const Needs& needs,
               const std::vector<Batch>& batches, int steps_max)
    : placer_(placer),
      frame_(frame),
      batches_(batches),
      steps_max_(steps_max),
      total_left_(needs.total),
      role_left_(needs.by_role) {}

bool Search::run() { return go_on(0, 0, 0); }

// Whether the members from here on are enough for what is still needed.
bool Search::enough_left(size_t b, size_t at) const {
  int members = 0;
  std::vector<int> by_role(role_left_.size(), 0);
  for (size_t i = b; i < batches_.size(); ++i) {
    int more = static_cast<int>(batches_[i].members.size() - (i == b ? at : 0));
    members += more;
    by_role[static_cast<size_t>(batches_[i].role)] += more;
  }
  if (members < total_left_) return false;
  for (size_t role = 0; role < by_role.size(); ++role) {
    if (by_role[role] < role_left_[role]) return false;
  }
  return true;
}

bool Search::try_nodes(size_t b, size_t at, int from) {
  const Batch& batch = batches_[b];
  State& state = placer_.state_;
  NodeView& view = placer_.views_.of(batch.pod_class, frame_.queue);
  const std::vector<Need>& needs = placer_.tables_.needs(batch.pod_class);
  int& role_left = role_left_[static_cast<size_t>(batch.role)];
  for (int pos = view.next(state, needs, from); pos < view.size(); pos = view.next(state, needs, pos + 1)) {
    int node = view.node_at(pos);
    if (!frame_.contains(node) || !state.tolerates(node, batch.pod_class)) continue;
    size_t mark = state.mark();
    state.take(node, batch.pod_class, 1);
    spots_.push_back({batch.members[at], node});
    --total_left_;
    --role_left;
    // Equal members need not be tried in another order: the next one starts here.
    if (go_on(b, at + 1, pos)) return true;
    ++role_left;
    ++total_left_;
    spots_.pop_back();
    state.roll_back(mark);
    if (steps_ >= steps_max_) return false;
  }
  return false;
}

bool Search::go_on(size_t b, size_t at, int from) {
  if (b < batches_.size() && at == batches_[b].members.size()) return go_on(b + 1, 0, 0);
  bool roles_met = std::all_of(role_left_.begin(), role_left_.end(), [](int left) { return left <= 0; });
  if (total_left_ <= 0 && roles_met && placer_.all_near(frame_.gang, spots_)) return true;
  if (b == batches_.size() || ++steps_ > steps_max_ || !enough_left(b, at)) return false;
  if (try_nodes(b, at, from)) return true;
  return steps_ < steps_max_ && go_on(b + 1, 0, 0);  // without the rest of this batch
}

}  // namespace trainyard::sched
