#include "control/volume_waits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard::control {
namespace {

// As long as kube-scheduler waits.
constexpr Duration kVolumesMax = std::chrono::minutes(10);

std::vector<std::string> claims_of(const sched::PodSeen& pod, const SchedulerView& view) {
  std::vector<std::string> keys;
  for (const std::string& claim : view.shapes().at(pod.shape).claims) {
    keys.push_back(fmt::format("{}/{}", pod.ns, claim));
  }
  return keys;
}

bool waits(const std::string& claim, const SchedulerView& view) {
  const ClaimSight* sight = view.claims().find(claim);
  return sight != nullptr && view.claims().waits_for_consumer(*sight);
}

bool reaches(const std::string& claim, const std::string& node, const SchedulerView& view) {
  auto nodes = view.claims().nodes().find(claim);
  return nodes == view.claims().nodes().end() ||
         std::binary_search(nodes->second.begin(), nodes->second.end(), node);
}

bool still_wants_node(const PodSight* pod) {
  return pod != nullptr && pod->seen.node.empty() && !pod->seen.ended && !pod->seen.leaving;
}

}  // namespace

std::set<std::string> VolumeWaits::delayed(const std::vector<sched::Binding>& bindings,
                                           const SchedulerView& view) const {
  std::set<std::string> out;
  if (!view.claims().troubles()) return out;
  for (const sched::Binding& binding : bindings) {
    if (held_.contains(binding.gang)) out.insert(binding.gang);
    const PodSight* pod = view.find_pod(binding.uid);
    if (pod == nullptr) continue;
    for (const std::string& claim : claims_of(pod->seen, view)) {
      if (waits(claim, view)) out.insert(binding.gang);
    }
  }
  return out;
}

void VolumeWaits::hold(const std::string& gang, Bind bind, const SchedulerView& view, Time now) {
  Held& held = held_[gang];
  held.until = now + kVolumesMax;
  const PodSight* pod = view.find_pod(bind.pod.uid);
  for (const std::string& key : pod == nullptr ? std::vector<std::string>{} : claims_of(pod->seen, view)) {
    if (!waits(key, view) || !held.claims.emplace(key, false).second) continue;
    const ClaimSight& claim = *view.claims().find(key);
    if (claim.selected_node != bind.node)
      selects_.push_back({gang, {claim.uid, claim.ns, claim.name}, bind.node});
  }
  held.places.push_back(std::move(bind));
}

std::optional<VolumeWaits::Select> VolumeWaits::next_select() {
  if (selects_.empty()) return std::nullopt;
  Select next = std::move(selects_.front());
  selects_.pop_front();
  return next;
}

std::optional<bool> VolumeWaits::ended(Held& held, const SchedulerView& view, Time now) const {
  if (held.until <= now || held.until > now + kVolumesMax) return false;
  for (const Bind& bind : held.places) {
    if (!still_wants_node(view.find_pod(bind.pod.uid))) return false;
  }
  bool all_bound = true;
  for (auto& [key, told] : held.claims) {
    const ClaimSight* claim = view.claims().find(key);
    if (claim == nullptr) return false;
    all_bound = all_bound && claim->is_bound();
    // Whoever makes volumes takes the node away when it cannot make one there.
    if (told && !claim->is_bound() && claim->selected_node.empty()) return false;
    told = told || !claim->selected_node.empty();
  }
  if (!all_bound) return std::nullopt;
  return std::all_of(held.places.begin(), held.places.end(), [&](const Bind& bind) {
    std::vector<std::string> claims = claims_of(view.find_pod(bind.pod.uid)->seen, view);
    return std::all_of(claims.begin(), claims.end(),
                       [&](const std::string& claim) { return reaches(claim, bind.node, view); });
  });
}

VolumeWaits::Outcome VolumeWaits::look(const SchedulerView& view, Time now) {
  Outcome out;
  std::vector<std::string> over;
  for (auto& [gang, held] : held_) {
    std::optional<bool> end = ended(held, view, now);
    if (!end) continue;
    if (*end) {
      out.ready.insert(out.ready.end(), held.places.begin(), held.places.end());
      held.places.clear();
    }
    over.push_back(gang);
  }
  for (const std::string& gang : over) {
    std::vector<std::string> uids = give_up(gang);
    out.given_up.insert(out.given_up.end(), uids.begin(), uids.end());
  }
  return out;
}

std::vector<std::string> VolumeWaits::give_up(const std::string& gang) {
  std::vector<std::string> uids;
  auto held = held_.find(gang);
  if (held == held_.end()) return uids;
  for (const Bind& bind : held->second.places) uids.push_back(bind.pod.uid);
  held_.erase(held);
  std::erase_if(selects_, [&](const Select& select) { return select.gang == gang; });
  return uids;
}

std::vector<std::string> VolumeWaits::give_up_all() {
  std::vector<std::string> uids;
  while (!held_.empty()) {
    std::vector<std::string> more = give_up(std::string(held_.begin()->first));
    uids.insert(uids.end(), more.begin(), more.end());
  }
  return uids;
}

std::optional<Time> VolumeWaits::next_look() const {
  std::optional<Time> next;
  for (const auto& [gang, held] : held_) {
    if (!next || held.until < *next) next = held.until;
  }
  return next;
}

std::vector<std::pair<PodName, std::string>> VolumeWaits::reasons() const {
  std::vector<std::pair<PodName, std::string>> out;
  for (const auto& [gang, held] : held_) {
    std::vector<std::string> names;
    for (const auto& [key, told] : held.claims) names.push_back(key.substr(key.find('/') + 1));
    for (const Bind& bind : held.places) {
      out.emplace_back(bind.pod, fmt::format("has a place on {}; waits for the volumes of: {}", bind.node,
                                             fmt::join(names, ", ")));
    }
  }
  return out;
}

}  // namespace trainyard::control
