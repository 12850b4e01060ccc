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

bool is_open(const std::string& claim, const SchedulerView& view) {
  return view.claims().found().open.contains(claim);
}

bool reaches(const std::string& claim, const std::string& node, const SchedulerView& view) {
  const auto& restricted = view.claims().found().nodes;
  auto nodes = restricted.find(claim);
  return nodes == restricted.end() || std::binary_search(nodes->second.begin(), nodes->second.end(), node);
}

bool still_wants_node(const PodSight* pod) {
  return pod != nullptr && pod->seen.node.empty() && !pod->seen.ended && !pod->seen.leaving;
}

// Whether what was chosen is to be seen; nullopt when it is so no more, or cannot be.
std::optional<bool> is_told(const sched::ClaimSeen& claim, const sched::ClaimChoice& choice,
                            const SchedulerView& view) {
  if (choice.volume.empty()) return !claim.selected_node.empty();
  std::optional<ClaimsSeen::Volume> volume = view.claims().find_volume(choice.volume);
  if (!volume || volume->seen->deleting) return std::nullopt;
  const std::string& owner = volume->seen->claim;
  if (!owner.empty() && owner != claim.key) return std::nullopt;
  return !owner.empty();
}

}  // namespace

std::set<std::string> VolumeWaits::delayed(const std::vector<sched::Binding>& bindings,
                                           const SchedulerView& view) const {
  std::set<std::string> out;
  for (const sched::Binding& binding : bindings) {
    if (held_.contains(binding.gang)) out.insert(binding.gang);
    const PodSight* pod = view.find_pod(binding.uid);
    if (pod == nullptr) continue;
    for (const std::string& claim : claims_of(pod->seen, view)) {
      if (is_open(claim, view)) out.insert(binding.gang);
    }
  }
  return out;
}

bool VolumeWaits::is_in_hand(const std::string& claim) const {
  return std::any_of(held_.begin(), held_.end(),
                     [&](const auto& entry) { return entry.second.claims.contains(claim); });
}

void VolumeWaits::hold(const std::string& gang, Bind bind, const std::map<std::string, std::string>& volumes,
                       const SchedulerView& view, Time now) {
  Held& held = held_[gang];
  held.until = now + kVolumesMax;
  const PodSight* pod = view.find_pod(bind.pod.uid);
  for (const std::string& key : pod == nullptr ? std::vector<std::string>{} : claims_of(pod->seen, view)) {
    if (!is_open(key, view) || held.claims.contains(key)) continue;
    auto volume = volumes.find(key);
    sched::ClaimChoice choice{volume == volumes.end() ? "" : volume->second, bind.node};
    if (!is_in_hand(key)) order(gang, *view.claims().find(key), choice, view);
    held.claims[key] = {std::move(choice)};
  }
  held.places.push_back(std::move(bind));
}

void VolumeWaits::order(const std::string& gang, const sched::ClaimSeen& claim,
                        const sched::ClaimChoice& choice, const SchedulerView& view) {
  ClaimName name{claim.uid, claim.ns, claim.name};
  if (choice.volume.empty()) {
    if (claim.selected_node != choice.node)
      tellings_.push_back({gang, select_node_request(name, choice.node)});
    return;
  }
  std::optional<ClaimsSeen::Volume> volume = view.claims().find_volume(choice.volume);
  // One that names its claim already is bound by whoever looks after volumes.
  if (!volume || volume->seen->claim == claim.key) return;
  tellings_.push_back(
      {gang, claim_volume_request({volume->seen->name, volume->seen->uid, volume->version}, name)});
}

std::optional<VolumeWaits::Telling> VolumeWaits::next_telling() {
  if (tellings_.empty()) return std::nullopt;
  Telling next = std::move(tellings_.front());
  tellings_.pop_front();
  return next;
}

std::optional<bool> VolumeWaits::ended(Held& held, const std::set<std::string>& nodes,
                                       const SchedulerView& view, Time now) const {
  if (held.until <= now || held.until > now + kVolumesMax) return false;
  for (const Bind& bind : held.places) {
    if (!still_wants_node(view.find_pod(bind.pod.uid)) || !nodes.contains(bind.node)) return false;
  }
  bool all_bound = true;
  for (auto& [key, one] : held.claims) {
    const sched::ClaimSeen* claim = view.claims().find(key);
    if (claim == nullptr) return false;
    if (claim->is_bound()) continue;
    all_bound = false;
    std::optional<bool> told = is_told(*claim, one.choice, view);
    // Whoever makes volumes takes the node away when it cannot make one there.
    if (!told || (one.told && !*told)) return false;
    one.told = *told;
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
  if (held_.empty()) return out;
  std::vector<std::string> over;
  std::set<std::string> nodes = view.ready_nodes();
  for (auto& [gang, held] : held_) {
    std::optional<bool> end = ended(held, nodes, view, now);
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
  std::erase_if(tellings_, [&](const Telling& telling) { return telling.gang == gang; });
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

ClaimsSeen::Choices VolumeWaits::choices() const {
  ClaimsSeen::Choices out;
  for (const auto& [gang, held] : held_) {
    for (const auto& [key, one] : held.claims) out.emplace(key, one.choice);
  }
  return out;
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
    for (const auto& [key, one] : held.claims) names.push_back(key.substr(key.find('/') + 1));
    for (const Bind& bind : held.places) {
      out.emplace_back(bind.pod, fmt::format("has a place on {}; waits for the volumes of: {}", bind.node,
                                             fmt::join(names, ", ")));
    }
  }
  return out;
}

}  // namespace trainyard::control
