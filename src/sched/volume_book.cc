#include "sched/volume_book.h"

#include <algorithm>

#include "base/check.h"

namespace trainyard::sched {

VolumeBook::VolumeBook(const Tables& tables) : tables_(tables) {
  const Cluster& cluster = tables.cluster();
  for (const VolumeSource& source : cluster.sources) {
    std::vector<int>& ranks = nodes_.emplace_back();
    for (int node : source.nodes.value_or(std::vector<int>{})) ranks.push_back(tables.rank_of(node));
    std::sort(ranks.begin(), ranks.end());
  }
  for (const Claim& claim : cluster.claims) {
    for (int source : claim.sources) CHECK(static_cast<size_t>(source) < cluster.sources.size());
  }
  for (size_t level = 0; level < kLevels; ++level) {
    levels_[level].resize(cluster.claims.size());
    taken_[level].resize(cluster.sources.size());
  }
}

void VolumeBook::copy(size_t from, size_t to) {
  levels_[to] = levels_[from];
  taken_[to] = taken_[from];
}

bool VolumeBook::reaches(int source, int node) const {
  const std::vector<int>& ranks = nodes_[static_cast<size_t>(source)];
  return !tables_.cluster().sources[static_cast<size_t>(source)].nodes ||
         std::binary_search(ranks.begin(), ranks.end(), node);
}

bool VolumeBook::is_free(size_t level, int source) const { return is_free_in(level, source, 1, {}); }

bool VolumeBook::is_free_in(size_t level, int source, int64_t size, const std::vector<Choice>& also) const {
  const VolumeSource& of = tables_.cluster().sources[static_cast<size_t>(source)];
  Taken taken = taken_[level][static_cast<size_t>(source)];
  for (const auto& [claim, other] : also) {
    // One that it held before is counted already.
    if (other != source || source_at(level, claim) == source) continue;
    ++taken.claims;
    taken.bytes += tables_.cluster().claims[static_cast<size_t>(claim)].size;
  }
  return of.volume.empty() ? size <= of.room - taken.bytes : taken.claims == 0;
}

int VolumeBook::choose(unsigned mask, int node, int claim, const std::vector<Choice>& also) const {
  const Claim& of = tables_.cluster().claims[static_cast<size_t>(claim)];
  for (int source : of.sources) {
    bool fits = reaches(source, node);
    for (size_t level = 0; fits && level < kLevels; ++level) {
      if ((mask & (1u << level)) == 0) continue;
      const Held& held = levels_[level][static_cast<size_t>(claim)];
      fits = held.pods > 0 ? held.source == source : is_free_in(level, source, of.size, also);
    }
    if (fits) return source;
  }
  return -1;
}

std::vector<VolumeBook::Choice> VolumeBook::choices(unsigned mask, int node, int pod_class) const {
  std::vector<Choice> out;
  for (int claim : tables_.pod_class(pod_class).claims) {
    out.emplace_back(claim, choose(mask, node, claim, out));
  }
  return out;
}

bool VolumeBook::has_for(unsigned mask, int node, int pod_class) const {
  std::vector<Choice> all = choices(mask, node, pod_class);
  return std::all_of(all.begin(), all.end(), [](const Choice& choice) { return choice.second >= 0; });
}

void VolumeBook::take(unsigned mask, int node, int pod_class, int times) {
  if (tables_.pod_class(pod_class).claims.empty()) return;
  for (const auto& [claim, source] : choices(mask, node, pod_class)) {
    for (size_t level = 0; level < kLevels; ++level) {
      if ((mask & (1u << level)) == 0) continue;
      Held& held = levels_[level][static_cast<size_t>(claim)];
      held.pods += times;
      if (held.pods > times || source < 0) continue;
      held.source = source;
      Taken& taken = taken_[level][static_cast<size_t>(source)];
      ++taken.claims;
      taken.bytes += tables_.cluster().claims[static_cast<size_t>(claim)].size;
    }
  }
}

void VolumeBook::give(unsigned mask, int pod_class, int times) {
  for (int claim : tables_.pod_class(pod_class).claims) {
    for (size_t level = 0; level < kLevels; ++level) {
      if ((mask & (1u << level)) == 0) continue;
      Held& held = levels_[level][static_cast<size_t>(claim)];
      held.pods -= times;
      CHECK(held.pods >= 0);
      if (held.pods > 0 || held.source < 0) continue;
      Taken& taken = taken_[level][static_cast<size_t>(held.source)];
      --taken.claims;
      taken.bytes -= tables_.cluster().claims[static_cast<size_t>(claim)].size;
      held.source = -1;
    }
  }
}

}  // namespace trainyard::sched
