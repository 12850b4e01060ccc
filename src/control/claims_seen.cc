#include "control/claims_seen.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "kube/access.h"
#include "kube/scheduling.h"

namespace trainyard::control {
namespace {

enum ClaimsStream { kClaimsSeen, kVolumesSeen, kClassesSeen };

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

ClaimSight read_claim(const json::object& claim) {
  ClaimSight out;
  out.ns = kube::namespace_of(claim);
  out.name = kube::name_of(claim);
  out.key = fmt::format("{}/{}", out.ns, out.name);
  out.uid = kube::uid_of(claim);
  out.volume = kube::text_at(claim, {"spec", "volumeName"});
  out.phase = kube::text_at(claim, {"status", "phase"});
  out.storage_class = kube::text_at(claim, {"spec", "storageClassName"});
  out.selected_node = kube::annotation_of(claim, kube::kSelectedNodeAnnotation);
  return out;
}

VolumeSight read_volume(const json::object& volume) {
  VolumeSight out;
  out.name = kube::name_of(volume);
  const json::array* terms =
      kube::array_at(volume, {"spec", "nodeAffinity", "required", "nodeSelectorTerms"});
  if (terms == nullptr) return out;
  for (const json::value& entry : *terms) {
    const json::object* term = entry.if_object();
    if (term == nullptr) continue;
    out.terms.push_back({sched::decode_requirements(kube::array_at(*term, {"matchExpressions"})),
                         sched::decode_requirements(kube::array_at(*term, {"matchFields"}))});
  }
  return out;
}

// [{matchLabelExpressions: [{key, values}]}]: all labels of one of them.
std::vector<sched::NodeTerm> read_topologies(const json::array* list) {
  std::vector<sched::NodeTerm> out;
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const json::object* topology = (*list)[i].if_object();
    const json::array* labels =
        topology != nullptr ? kube::array_at(*topology, {"matchLabelExpressions"}) : nullptr;
    if (labels == nullptr) continue;
    json::array expressions;
    for (const json::value& entry : *labels) {
      json::object expression = entry.is_object() ? entry.get_object() : json::object();
      expression["operator"] = "In";
      expressions.push_back(std::move(expression));
    }
    out.push_back({sched::decode_requirements(&expressions), {}});
  }
  return out;
}

ClassSight read_class(const json::object& object) {
  return {std::string(kube::name_of(object)),
          kube::text_at(object, {"volumeBindingMode"}) == "WaitForFirstConsumer",
          kube::text_at(object, {"provisioner"}) != kNoProvisioner,
          read_topologies(kube::array_at(object, {"allowedTopologies"}))};
}

bool is_reachable(const std::vector<sched::NodeTerm>& terms, const sched::Node& node) {
  sched::Labels fields{{"metadata.name", node.name}};
  return std::any_of(terms.begin(), terms.end(), [&](const sched::NodeTerm& term) {
    return sched::hold_all(term.labels, node.labels) && sched::hold_all(term.fields, fields);
  });
}

}  // namespace

ClaimsSeen::ClaimsSeen(bool waits_for_claims)
    : waits_for_claims_(waits_for_claims),
      claims_([](const client::Object& object) { return read_claim(*object); }),
      volumes_([](const client::Object& object) { return read_volume(*object); }),
      classes_([](const client::Object& object) { return read_class(*object); }) {}

std::vector<kube::Resource> ClaimsSeen::resources() const {
  std::vector<kube::Resource> out{kube::kPersistentVolumeClaims, kube::kPersistentVolumes};
  if (waits_for_claims_) out.push_back(kube::kStorageClasses);
  return out;
}

bool ClaimsSeen::synced() const {
  return claims_.synced() && volumes_.synced() && (!waits_for_claims_ || classes_.synced());
}

bool ClaimsSeen::take_in(int stream, const client::Output& output) {
  bool news = false;
  auto any_change = [&](const auto*, const auto*) { news = true; };
  if (stream == kClaimsSeen) {
    claims_.apply(output, any_change);
  } else if (stream == kVolumesSeen) {
    volumes_.apply(output, any_change);
  } else {
    CHECK(stream == kClassesSeen);
    classes_.apply(output, any_change);
  }
  changed_ = changed_ || news;
  return news;
}

const ClassSight* ClaimsSeen::class_of(const ClaimSight& claim) const {
  auto found = class_by_name_.find(claim.storage_class);
  return found == class_by_name_.end() ? nullptr : found->second;
}

bool ClaimsSeen::waits_for_consumer(const ClaimSight& claim) const {
  const ClassSight* kind = class_of(claim);
  return claim.volume.empty() && kind != nullptr && kind->waits_for_consumer && kind->provisions;
}

std::string ClaimsSeen::trouble_of(const ClaimSight& claim) const {
  if (claim.is_bound() || waits_for_consumer(claim)) return "";
  const ClassSight* kind = class_of(claim);
  if (claim.phase == "Lost") return fmt::format("claim {} has lost its volume", claim.name);
  if (kind != nullptr && !kind->provisions && claim.volume.empty()) {
    return fmt::format("claim {} has no volume, and none is made for class {}: give it one by volumeName",
                       claim.name, kind->name);
  }
  return fmt::format("claim {} has no volume yet", claim.name);
}

void ClaimsSeen::find_nodes(const ClaimSight& claim, const std::vector<const sched::Node*>& nodes) {
  const std::vector<sched::NodeTerm>* terms = nullptr;
  if (waits_for_consumer(claim)) {
    if (!claim.selected_node.empty()) {
      nodes_[claim.key] = {claim.selected_node};
      return;
    }
    terms = &class_of(claim)->terms;
  } else if (auto volume = volume_by_name_.find(claim.volume); volume != volume_by_name_.end()) {
    terms = &volume->second->terms;
  }
  if (terms == nullptr || terms->empty()) return;
  std::vector<std::string>& reachable = nodes_[claim.key];
  for (const sched::Node* node : nodes) {
    if (is_reachable(*terms, *node)) reachable.push_back(node->name);
  }
  std::sort(reachable.begin(), reachable.end());
}

void ClaimsSeen::refresh(const std::map<std::string, Sights<sched::NodeSeen>::Sight, std::less<>>& nodes) {
  if (!changed_) return;
  changed_ = false;
  std::vector<const sched::Node*> all;
  for (const auto& [uid, sight] : nodes) all.push_back(&sight.value.node);
  volume_by_name_.clear();
  for (const auto& [uid, sight] : volumes_.all()) {
    if (!sight.value.terms.empty()) volume_by_name_[sight.value.name] = &sight.value;
  }
  class_by_name_.clear();
  for (const auto& [uid, sight] : classes_.all()) class_by_name_[sight.value.name] = &sight.value;
  by_key_.clear();
  nodes_.clear();
  troubles_.reset();
  if (waits_for_claims_) troubles_.emplace();
  for (const auto& [uid, sight] : claims_.all()) {
    const ClaimSight& claim = sight.value;
    by_key_[claim.key] = &claim;
    find_nodes(claim, all);
    if (troubles_) (*troubles_)[claim.key] = trouble_of(claim);
  }
}

const ClaimSight* ClaimsSeen::find(const std::string& key) const {
  auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

}  // namespace trainyard::control
