// What the node looks at now and then: files of configMaps and secrets that have changed,
// emptyDirs that have grown too large, logs that are kept for too long.
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/quantity.h"
#include "node/node_agent.h"

namespace trainyard::node {
namespace {

constexpr Duration kPruneEvery{600'000};

// The limit as the manifest writes it.
std::string size_limit_of(const json::object& pod, std::string_view volume) {
  const json::array* volumes = kube::array_at(pod, {"spec", "volumes"});
  for (size_t i = 0; volumes != nullptr && i < volumes->size(); ++i) {
    const json::object* one = (*volumes)[i].if_object();
    if (one == nullptr || kube::text_at(*one, {"name"}) != volume) continue;
    const json::value* limit = kube::find(*one, {"emptyDir", "sizeLimit"});
    if (limit == nullptr) continue;
    Result<kube::Quantity> amount = kube::Quantity::from_json(*limit);
    if (amount.ok()) return amount->to_string();
  }
  return "";
}

}  // namespace

void Node::Agent::keep_up(Time now) {
  // A clock that was set back must not put it off.
  if (now < next_upkeep_ && next_upkeep_ - now <= options_.upkeep_every) return;
  next_upkeep_ = now + options_.upkeep_every;
  for (auto& [uid, entry] : entries_) {
    if (entry.finished || containers_of_pod(uid).empty()) continue;
    refresh_files(uid, entry);
    measure(uid, entry);
  }
  prune(now);
}

// What a secret or configMap holds now is what the pod's files hold soon.
void Node::Agent::refresh_files(const std::string& uid, Entry& entry) {
  auto is_files = [](const VolumePlan& volume) { return std::holds_alternative<FileVolume>(volume.kind); };
  if (std::none_of(entry.volumes.begin(), entry.volumes.end(), is_files)) return;
  Result<Around> around = around_of(entry);
  if (!around.ok()) return;
  Result<std::vector<VolumePlan>> fresh = plan_volumes(*allocated_pod(entry), *around);
  // One that is gone meanwhile leaves the files as they are.
  if (!fresh.ok() || *fresh == entry.volumes) return;
  std::vector<VolumePlan> changed;
  for (const VolumePlan& volume : *fresh) {
    bool same = std::find(entry.volumes.begin(), entry.volumes.end(), volume) != entry.volumes.end();
    if (is_files(volume) && !same) changed.push_back(volume);
  }
  std::string ns(kube::namespace_of(*entry.pod));
  if (volumes_.set_up(ns, uid, changed, fs_group_of(*entry.pod)).ok()) entry.volumes = *fresh;
}

// Evicts a pod whose emptyDir on disk holds more than it may.
void Node::Agent::measure(const std::string& uid, const Entry& entry) {
  for (const VolumePlan& volume : entry.volumes) {
    const EmptyVolume* empty = std::get_if<EmptyVolume>(&volume.kind);
    if (empty == nullptr || empty->memory || !empty->bytes_max) continue;
    // Large folders take a while to walk.
    (void)writes_->submit([this, uid, name = volume.name, most = *empty->bytes_max] {
      if (volumes_.bytes_of(uid, name) <= most) return;
      (void)post([this, uid, name] {
        auto found = entries_.find(uid);
        if (found == entries_.end()) return;
        std::string limit = size_limit_of(*found->second.pod, name);
        found->second.machine.evict(
            "Evicted",
            fmt::format("Usage of EmptyDir volume \"{}\" exceeds the limit \"{}\". ", name, limit));
        found->second.dirty = true;
      });
    });
  }
}

void Node::Agent::prune(Time now) {
  if (now < next_prune_ && next_prune_ - now <= kPruneEvery) return;
  next_prune_ = now + kPruneEvery;
  std::set<std::string> live;
  for (const auto& [uid, entry] : entries_) {
    if (!entry.finished) live.insert(uid);
  }
  (void)writes_->submit([root = options_.data_dir / "logs", limits = options_.logs, now, live] {
    prune_logs(root, limits, now, [&](const std::string& uid) { return live.contains(uid); });
  });
}

}  // namespace trainyard::node
