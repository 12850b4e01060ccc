#include "sched/node_view.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sched/fit.h"

namespace trainyard::sched {
namespace {

constexpr size_t kBlock = 32;
constexpr size_t kViewsMax = 512;  // beyond, they are made anew: memory before speed

uint64_t scarce_resources(const Amounts& requests) {
  uint64_t bits = 0;
  for (size_t r = kNamedResources; r < requests.size(); ++r) {
    if (requests[r] > 0) bits |= uint64_t{1} << (r % 64);
  }
  return bits;
}

bool covers(const int64_t* room, const std::vector<Need>& needs) {
  for (const Need& need : needs) {
    if (room[need.resource] < need.amount) return false;
  }
  return true;
}

}  // namespace

NodeView::NodeView(const Tables& tables, const NodeRule& rule, const Queue* queue, const Amounts& requests)
    : width_(static_cast<size_t>(tables.resources())) {
  std::vector<std::pair<Liking, int>> liked;
  for (int n = 0; n < tables.nodes(); ++n) {
    if (unfit(rule, queue, tables.node(n))) continue;
    liked.emplace_back(liking(rule, requests, tables.node(n)), n);
  }
  std::stable_sort(liked.begin(), liked.end(),
                   [](const auto& a, const auto& b) { return likes_more(a.first, b.first); });
  position_.assign(static_cast<size_t>(tables.nodes()), -1);
  for (const auto& [_, node] : liked) {
    position_[static_cast<size_t>(node)] = static_cast<int>(order_.size());
    order_.push_back(node);
  }
  size_t blocks = (order_.size() + kBlock - 1) / kBlock;
  most_.resize(blocks * width_);
  stale_.assign(blocks, true);
}

void NodeView::follow(const State& state) {
  if (upheavals_ != state.upheavals()) {
    std::fill(stale_.begin(), stale_.end(), true);
    upheavals_ = state.upheavals();
    touched_ = state.touched().size();
    return;
  }
  for (; touched_ < state.touched().size(); ++touched_) {
    int position = position_[static_cast<size_t>(state.touched()[touched_])];
    if (position >= 0) stale_[static_cast<size_t>(position) / kBlock] = true;
  }
}

void NodeView::measure(const State& state, size_t block) {
  int64_t* most = &most_[block * width_];
  std::fill(most, most + width_, std::numeric_limits<int64_t>::min());
  size_t end = std::min(order_.size(), (block + 1) * kBlock);
  for (size_t at = block * kBlock; at < end; ++at) {
    const int64_t* row = state.usable(order_[at]);
    for (size_t r = 0; r < width_; ++r) most[r] = std::max(most[r], row[r]);
  }
  stale_[block] = false;
}

int NodeView::next(const State& state, const std::vector<Need>& needs, int from) {
  follow(state);
  size_t at = static_cast<size_t>(from);
  while (at < order_.size()) {
    size_t block = at / kBlock;
    size_t end = std::min(order_.size(), (block + 1) * kBlock);
    if (stale_[block]) measure(state, block);
    if (covers(&most_[block * width_], needs)) {
      for (; at < end; ++at) {
        if (covers(state.usable(order_[at]), needs)) return static_cast<int>(at);
      }
    }
    at = end;
  }
  return size();
}

void NodeViews::trim() {
  if (views_.size() > kViewsMax) views_.clear();
}

NodeView& NodeViews::of(int pod_class, int queue) {
  const PodClass& pod = tables_.pod_class(pod_class);
  const Queue* of_queue = queue < 0 ? nullptr : &tables_.cluster().queues[static_cast<size_t>(queue)];
  bool restricted = of_queue != nullptr && !of_queue->node_selector.empty();
  Key key{pod.node_rule, restricted ? queue : -1, scarce_resources(pod.requests)};
  auto found = views_.find(key);
  if (found != views_.end()) return found->second;
  const NodeRule& rule = tables_.cluster().node_rules[static_cast<size_t>(pod.node_rule)];
  return views_.emplace(key, NodeView(tables_, rule, restricted ? of_queue : nullptr, pod.requests))
      .first->second;
}

}  // namespace trainyard::sched
