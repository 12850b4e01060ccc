#include "client/cache.h"

#include "base/match.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::client {

namespace {

ObjectKey key_of(const json::object& object) {
  return {std::string(kube::namespace_of(object)), std::string(kube::name_of(object))};
}

bool is_ended_pod(const json::object& object) {
  if (kube::text_at(object, {"kind"}) != kube::kPods.kind) return false;
  std::string_view phase = kube::text_at(object, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace

std::vector<Changed> Cache::apply(const Output& output, Time now) {
  std::vector<Changed> all;
  apply(output, now, [&](const Changed& changed) { all.push_back(changed); });
  return all;
}

void Cache::apply(const Output& output, Time now, const Tell& tell) {
  auto tell_if = [&](const std::optional<Changed>& changed) {
    if (changed) tell(*changed);
  };
  std::visit(Match{
                 [&](const Init&) { incoming_.emplace(); },
                 [&](const Apply& apply) {
                   if (!incoming_) return tell_if(put(apply.object, now));
                   incoming_->insert_or_assign(key_of(*apply.object), pack(apply.object));
                 },
                 [&](const Delete& gone) { tell_if(drop(gone.object, now)); },
                 [&](const InitDone& done) { swap_in(done.revision, now, tell); },
                 [&](const Seen& seen) { revision_ = std::max(revision_, seen.revision); },
             },
             output);
}

Patterns* Cache::patterns() {
  size_t beside = incoming_ ? incoming_->size() : objects_.size();
  return beside < kAlikeMin ? nullptr : &patterns_;
}

Packed Cache::pack(const Object& object) {
  Packed packed = unpacked(object);
  if (form_ == Form::kText) packed.shorten(patterns());
  return packed;
}

Packed Cache::unpacked(const Object& object) const {
  Packed packed(object, Form::kDocument);
  if (form_ == Form::kText) packed.note_kin();
  return packed;
}

void Cache::came(Place at) {
  if (form_ == Form::kDocument) return;
  std::erase(unpacked_, at);
  unpacked_.push_back(at);
  if (unpacked_.size() <= kUnpackedMax) return;
  unpacked_.front()->second.shorten(patterns());
  unpacked_.erase(unpacked_.begin());
}

std::optional<Changed> Cache::put(const Object& object, Time now) {
  int64_t version = kube::version_of(*object);
  bool is_new = version > revision_;
  revision_ = std::max(revision_, version);
  ObjectKey key = key_of(*object);
  auto found = objects_.lower_bound(key);
  const bool is_known = found != objects_.end() && found->first == key;
  // One that we do not have and that is not new was deleted since.
  if (is_known ? found->second.version() >= version : !is_new) return std::nullopt;
  if (!is_known) {
    found = objects_.emplace_hint(found, std::move(key), unpacked(object));
    came(found);
    set_owner(found, "", kube::controller_uid_of(*object));
    return Changed{std::nullopt, object};
  }
  Packed was = std::exchange(found->second, unpacked(object));
  came(found);
  if (was.is_akin(found->second)) return Changed{std::move(was), object, true};
  Object before = was.object();
  std::string_view old_owner = kube::controller_uid_of(*before);
  std::string_view owner = kube::controller_uid_of(*object);
  // Another object of the same name, or no longer its controller's: to the controller the
  // old one is gone, and how it ended counts.
  bool is_another = kube::uid_of(*before) != kube::uid_of(*object);
  bool changed_hands = !is_another && old_owner != owner;
  if (is_another || changed_hands) bury(before, now);
  if (changed_hands) miss(before);
  set_owner(found, old_owner, owner);
  return Changed{std::move(was), object};
}

std::optional<Changed> Cache::drop(const Object& last, Time now) {
  int64_t version = kube::version_of(*last);
  bool is_new = version > revision_;
  revision_ = std::max(revision_, version);
  auto found = objects_.find(key_of(*last));
  if (found == objects_.end() ? !is_new : found->second.version() > version) return std::nullopt;
  bury(last, now);
  miss(last);
  if (found != objects_.end()) {
    // As it was last it is mostly akin to how it lies here, which then need not be read.
    const Object before = unpacked(last).is_akin(found->second) ? last : found->second.object();
    set_owner(found, kube::controller_uid_of(*before), "");
    std::erase(unpacked_, found);
    objects_.erase(found);
  }
  return Changed{Packed(last, Form::kDocument), nullptr};
}

void Cache::swap_in(int64_t revision, Time now, const Tell& tell) {
  CHECK(incoming_.has_value());
  std::map<ObjectKey, Packed> fresh = std::move(*incoming_);
  incoming_.reset();
  // A list that is older than what we have seen would take us back in time.
  if (revision != 0 && revision < revision_) return;
  revision_ = std::max(revision_, revision);
  synced_ = true;
  ++lists_;
  std::map<ObjectKey, Packed> old = std::exchange(objects_, std::move(fresh));
  unpacked_.clear();
  by_owner_.clear();
  for (const auto& [key, packed] : old) {
    if (objects_.contains(key)) continue;
    Object last = packed.object();
    bury(last, now);
    miss(last);
    tell({Packed(last, Form::kDocument), nullptr});
  }
  for (auto at = objects_.begin(); at != objects_.end(); ++at) {
    const auto& [key, packed] = *at;
    Object object = packed.object();
    set_owner(at, "", kube::controller_uid_of(*object));
    auto before = old.find(key);
    if (before == old.end()) {
      tell({std::nullopt, std::move(object)});
      continue;
    }
    if (before->second.version() == packed.version()) continue;
    const bool akin = before->second.is_akin(packed);
    Object last = akin ? nullptr : before->second.object();
    if (last != nullptr && kube::uid_of(*last) != kube::uid_of(*object)) bury(last, now);
    tell({std::move(before->second), std::move(object), akin});
  }
}

void Cache::set_owner(Place at, std::string_view before, std::string_view after) {
  if (before == after) return;
  auto is_less = [](Place a, Place b) { return a->first < b->first; };
  if (auto found = by_owner_.find(before); found != by_owner_.end()) {
    std::erase(found->second, at);
    if (found->second.empty()) by_owner_.erase(found);
  }
  if (after.empty()) return;
  std::vector<Place>& places = by_owner_[std::string(after)];
  places.insert(std::upper_bound(places.begin(), places.end(), at, is_less), at);
}

void Cache::bury(const Object& last, Time now) {
  if (remains_ == Remains::kDropped) return;
  std::string_view owner = kube::controller_uid_of(*last);
  if (owner.empty() || !is_ended_pod(*last) || tombstone_count_ >= kTombstonesMax) return;
  bool added = tombstones_[std::string(owner)]
                   .insert_or_assign(std::string(kube::uid_of(*last)), Tombstone{pack(last), now})
                   .second;
  if (added) ++tombstone_count_;
}

void Cache::miss(const Object& last) {
  if (remains_ == Remains::kDropped) return;
  std::string_view owner = kube::controller_uid_of(*last);
  if (owner.empty() || kube::is_deleting(*last) || is_ended_pod(*last)) return;
  vanished_[std::string(owner)].insert_or_assign(key_of(*last), last);
}

std::vector<Object> Cache::vanished_of(std::string_view owner_uid) const {
  std::vector<Object> vanished;
  auto found = vanished_.find(owner_uid);
  if (found == vanished_.end()) return vanished;
  for (const auto& [key, object] : found->second) vanished.push_back(object);
  return vanished;
}

void Cache::settle_vanished(std::string_view owner_uid, const std::vector<Object>& looked_for) {
  auto found = vanished_.find(owner_uid);
  if (found == vanished_.end()) return;
  std::erase_if(found->second, [&](const auto& entry) {
    return std::find(looked_for.begin(), looked_for.end(), entry.second) != looked_for.end();
  });
  if (found->second.empty()) vanished_.erase(found);
}

void Cache::drop_vanished_unless(const std::function<bool(std::string_view owner_uid)>& is_needed) {
  std::erase_if(vanished_, [&](const auto& entry) { return !is_needed(entry.first); });
}

bool Cache::contains(std::string_view ns, std::string_view name) const {
  return objects_.contains(ObjectKey{std::string(ns), std::string(name)});
}

Object Cache::find(std::string_view ns, std::string_view name) const {
  const Packed* found = packed(ns, name);
  return found == nullptr ? nullptr : found->object();
}

const Packed* Cache::packed(std::string_view ns, std::string_view name) const {
  auto found = objects_.find(ObjectKey{std::string(ns), std::string(name)});
  return found == objects_.end() ? nullptr : &found->second;
}

std::vector<Object> Cache::owned_by(std::string_view uid) const {
  std::vector<Object> owned;
  for (const auto& [key, packed] : packed_of(uid)) owned.push_back(packed->object());
  return owned;
}

std::vector<std::pair<const ObjectKey*, const Packed*>> Cache::packed_of(std::string_view uid) const {
  std::vector<std::pair<const ObjectKey*, const Packed*>> owned;
  auto places = by_owner_.find(uid);
  if (places == by_owner_.end()) return owned;
  owned.reserve(places->second.size());
  for (Place at : places->second) owned.emplace_back(&at->first, &at->second);
  return owned;
}

std::vector<Object> Cache::tombstones_of(std::string_view owner_uid) const {
  std::vector<Object> ended;
  auto found = tombstones_.find(owner_uid);
  if (found == tombstones_.end()) return ended;
  for (const auto& [uid, tombstone] : found->second) ended.push_back(tombstone.last.object());
  return ended;
}

void Cache::forget(std::string_view owner_uid, const std::vector<std::string>& pod_uids) {
  auto found = tombstones_.find(owner_uid);
  if (found == tombstones_.end()) return;
  for (const std::string& uid : pod_uids) tombstone_count_ -= found->second.erase(uid);
  if (found->second.empty()) tombstones_.erase(found);
}

void Cache::forget_if(const std::function<bool(std::string_view, const Tombstone&)>& is_useless) {
  for (auto owner = tombstones_.begin(); owner != tombstones_.end();) {
    tombstone_count_ -= std::erase_if(
        owner->second, [&](const auto& entry) { return is_useless(owner->first, entry.second); });
    owner = owner->second.empty() ? tombstones_.erase(owner) : std::next(owner);
  }
}

}  // namespace trainyard::client
