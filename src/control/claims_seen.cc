#include "control/claims_seen.h"

#include "base/check.h"
#include "kube/scheduling.h"

namespace trainyard::control {
namespace {

enum ClaimsStream { kClaimsSeen, kVolumesSeen, kClassesSeen, kDriversSeen, kRoomsSeen };

template <typename T>
std::vector<const T*> values_of(const Sights<T>& sights) {
  std::vector<const T*> out;
  for (const auto& [uid, sight] : sights.all()) out.push_back(&sight.value);
  return out;
}

}  // namespace

ClaimsSeen::ClaimsSeen(bool waits_for_claims)
    : waits_for_claims_(waits_for_claims),
      claims_([](const client::Object& object) { return sched::see_claim(*object); }),
      volumes_([](const client::Object& object) { return sched::see_volume(*object); }),
      classes_([](const client::Object& object) { return sched::see_storage_class(*object); }),
      drivers_([](const client::Object& object) { return sched::see_driver(*object); }),
      rooms_([](const client::Object& object) { return sched::see_room(*object); }) {}

std::vector<kube::Resource> ClaimsSeen::resources() const {
  std::vector<kube::Resource> out{kube::kPersistentVolumeClaims, kube::kPersistentVolumes};
  if (!waits_for_claims_) return out;
  out.insert(out.end(), {kube::kStorageClasses, kube::kCsiDrivers, kube::kCsiStorageCapacities});
  return out;
}

bool ClaimsSeen::synced() const {
  bool made = classes_.synced() && drivers_.synced() && rooms_.synced();
  return claims_.synced() && volumes_.synced() && (made || !waits_for_claims_);
}

bool ClaimsSeen::take_in(int stream, const client::Output& output) {
  bool news = false;
  auto any_change = [&](const auto*, const auto*) { news = true; };
  if (stream == kClaimsSeen) {
    claims_.apply(output, any_change);
  } else if (stream == kVolumesSeen) {
    volumes_.apply(output, any_change);
  } else if (stream == kClassesSeen) {
    classes_.apply(output, any_change);
  } else if (stream == kDriversSeen) {
    drivers_.apply(output, any_change);
  } else {
    CHECK(stream == kRoomsSeen);
    rooms_.apply(output, any_change);
  }
  changed_ = changed_ || news;
  return news;
}

void ClaimsSeen::refresh(const std::map<std::string, Sights<sched::NodeSeen>::Sight, std::less<>>& nodes,
                         Choices choices) {
  if (!changed_ && choices == choices_) return;
  changed_ = false;
  choices_ = std::move(choices);
  by_key_.clear();
  for (const auto& [uid, sight] : claims_.all()) by_key_[sight.value.key] = &sight.value;
  by_name_.clear();
  for (const auto& [uid, sight] : volumes_.all()) by_name_[sight.value.name] = {&sight.value, sight.version};
  sched::VolumeDocuments documents;
  documents.claims = values_of(claims_);
  documents.volumes = values_of(volumes_);
  documents.classes = values_of(classes_);
  documents.drivers = values_of(drivers_);
  documents.rooms = values_of(rooms_);
  for (const auto& [uid, sight] : nodes) documents.nodes.push_back(&sight.value.node);
  documents.choices = choices_;
  documents.waits_for_claims = waits_for_claims_;
  found_ = sched::find_volumes(documents);
}

const sched::ClaimSeen* ClaimsSeen::find(const std::string& key) const {
  auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

std::optional<ClaimsSeen::Volume> ClaimsSeen::find_volume(const std::string& name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace trainyard::control
