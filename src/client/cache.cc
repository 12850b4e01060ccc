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
  auto as_list = [](std::optional<Changed> changed) {
    return changed ? std::vector<Changed>{*changed} : std::vector<Changed>{};
  };
  return std::visit(Match{
                        [&](const Init&) {
                          incoming_.emplace();
                          return std::vector<Changed>{};
                        },
                        [&](const Apply& apply) {
                          if (incoming_) {
                            incoming_->push_back(apply.object);
                            return std::vector<Changed>{};
                          }
                          return as_list(put(apply.object, now));
                        },
                        [&](const Delete& gone) { return as_list(drop(gone.object, now)); },
                        [&](const InitDone& done) { return swap_in(done.revision, now); },
                        [&](const Seen& seen) {
                          revision_ = std::max(revision_, seen.revision);
                          return std::vector<Changed>{};
                        },
                    },
                    output);
}

std::optional<Changed> Cache::put(const Object& object, Time now) {
  int64_t version = kube::version_of(*object);
  bool is_new = version > revision_;
  revision_ = std::max(revision_, version);
  ObjectKey key = key_of(*object);
  auto found = objects_.find(key);
  // One that we do not have and that is not new was deleted since.
  if (found == objects_.end() ? !is_new : kube::version_of(*found->second) >= version) return std::nullopt;
  Object& place = objects_[key];
  Changed changed{place, object};
  // Another object of the same name, or no longer its controller's: to the controller the
  // old one is gone, and how it ended counts.
  bool is_another = place != nullptr && kube::uid_of(*place) != kube::uid_of(*object);
  bool changed_hands =
      place != nullptr && !is_another && kube::controller_uid_of(*place) != kube::controller_uid_of(*object);
  if (is_another || changed_hands) bury(place, now);
  if (changed_hands) miss(place);
  place = object;
  index(key, changed.before, changed.after);
  return changed;
}

std::optional<Changed> Cache::drop(const Object& last, Time now) {
  int64_t version = kube::version_of(*last);
  bool is_new = version > revision_;
  revision_ = std::max(revision_, version);
  auto found = objects_.find(key_of(*last));
  if (found == objects_.end() ? !is_new : kube::version_of(*found->second) > version) return std::nullopt;
  bury(last, now);
  miss(last);
  if (found != objects_.end()) {
    index(found->first, found->second, nullptr);
    objects_.erase(found);
  }
  return Changed{last, nullptr};
}

std::vector<Changed> Cache::swap_in(int64_t revision, Time now) {
  CHECK(incoming_.has_value());
  std::map<ObjectKey, Object> fresh;
  for (Object& object : *incoming_) fresh.insert_or_assign(key_of(*object), std::move(object));
  incoming_.reset();
  std::vector<Changed> changed;
  // A list that is older than what we have seen would take us back in time.
  if (revision != 0 && revision < revision_) return changed;
  revision_ = std::max(revision_, revision);
  synced_ = true;
  ++lists_;
  std::map<ObjectKey, Object> old = std::exchange(objects_, std::move(fresh));
  by_owner_.clear();
  for (const auto& [key, object] : objects_) index(key, nullptr, object);
  for (const auto& [key, object] : old) {
    auto found = objects_.find(key);
    bool same = found != objects_.end() && kube::uid_of(*found->second) == kube::uid_of(*object);
    if (!same) bury(object, now);
    if (found == objects_.end()) miss(object);
    if (found == objects_.end()) changed.push_back({object, nullptr});
  }
  for (const auto& [key, object] : objects_) {
    auto before = old.find(key);
    if (before == old.end()) {
      changed.push_back({nullptr, object});
    } else if (kube::version_of(*before->second) != kube::version_of(*object)) {
      changed.push_back({before->second, object});
    }
  }
  return changed;
}

void Cache::index(const ObjectKey& key, const Object& before, const Object& after) {
  std::string_view old_owner = before == nullptr ? std::string_view{} : kube::controller_uid_of(*before);
  std::string_view new_owner = after == nullptr ? std::string_view{} : kube::controller_uid_of(*after);
  if (old_owner == new_owner) return;
  if (auto found = by_owner_.find(old_owner); found != by_owner_.end()) {
    found->second.erase(key);
    if (found->second.empty()) by_owner_.erase(found);
  }
  if (!new_owner.empty()) by_owner_[std::string(new_owner)].insert(key);
}

void Cache::bury(const Object& last, Time now) {
  std::string_view owner = kube::controller_uid_of(*last);
  if (owner.empty() || !is_ended_pod(*last) || tombstone_count_ >= kTombstonesMax) return;
  bool added = tombstones_[std::string(owner)]
                   .insert_or_assign(std::string(kube::uid_of(*last)), Tombstone{last, now})
                   .second;
  if (added) ++tombstone_count_;
}

void Cache::miss(const Object& last) {
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

void Cache::settle_vanished(std::string_view owner_uid) {
  auto found = vanished_.find(owner_uid);
  if (found != vanished_.end()) vanished_.erase(found);
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

Object Cache::find(std::string_view ns, std::string_view name) const {
  auto found = objects_.find(ObjectKey{std::string(ns), std::string(name)});
  return found == objects_.end() ? nullptr : found->second;
}

std::vector<Object> Cache::owned_by(std::string_view uid) const {
  std::vector<Object> owned;
  auto keys = by_owner_.find(uid);
  if (keys == by_owner_.end()) return owned;
  owned.reserve(keys->second.size());
  for (const ObjectKey& key : keys->second) owned.push_back(objects_.at(key));
  return owned;
}

std::vector<Object> Cache::tombstones_of(std::string_view owner_uid) const {
  std::vector<Object> ended;
  auto found = tombstones_.find(owner_uid);
  if (found == tombstones_.end()) return ended;
  for (const auto& [uid, tombstone] : found->second) ended.push_back(tombstone.object);
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
