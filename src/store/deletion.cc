// How objects go: by request, in their grace period, behind finalizers, after their owners.
#include "kube/access.h"
#include "kube/same.h"
#include "store/errors.h"
#include "store/metadata.h"
#include "store/namespaces.h"
#include "store/store.h"

namespace trainyard::store {

using kube::jview;
using kube::text_at;

namespace {

// The uids of an object's owners, in order; they live as long as the object.
std::vector<std::string_view> owners_of(const json::object& object) {
  std::vector<std::string_view> uids;
  const json::array* owners = kube::array_at(object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return uids;
  for (const json::value& entry : *owners) {
    const json::object* owner = entry.if_object();
    if (owner != nullptr && !text_at(*owner, {"uid"}).empty()) uids.emplace_back(text_at(*owner, {"uid"}));
  }
  return uids;
}

// Whether both name the same owners, in the same order.
bool has_same_owners(const json::object& a, const json::object& b) {
  const json::array* of_a = kube::array_at(a, {"metadata", "ownerReferences"});
  const json::array* of_b = kube::array_at(b, {"metadata", "ownerReferences"});
  if (of_a == nullptr || of_b == nullptr) return of_a == of_b || owners_of(a) == owners_of(b);
  auto uid_in = [](const json::value& entry) {
    const json::object* owner = entry.if_object();
    return owner == nullptr ? std::string_view() : text_at(*owner, {"uid"});
  };
  auto is_same = [&](const json::value& x, const json::value& y) { return uid_in(x) == uid_in(y); };
  return std::equal(of_a->begin(), of_a->end(), of_b->begin(), of_b->end(), is_same) ||
         owners_of(a) == owners_of(b);
}

bool blocks_owner(const json::object& object, std::string_view owner_uid) {
  const json::array* owners = kube::array_at(object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return false;
  return std::any_of(owners->begin(), owners->end(), [&](const json::value& entry) {
    const json::object* owner = entry.if_object();
    return owner != nullptr && text_at(*owner, {"uid"}) == owner_uid &&
           kube::bool_at(*owner, {"blockOwnerDeletion"}).value_or(false);
  });
}

bool waits_for_dependents(const json::object& object) {
  return kube::is_deleting(object) && kube::has_finalizer(object, kForegroundFinalizer);
}

// How long this object may stay: pods that run somewhere are stopped by their node first.
int64_t grace_of(const kube::Resource& resource, const json::object& object, std::optional<int64_t> wanted) {
  if (resource != kube::kPods) return 0;
  if (text_at(object, {"spec", "nodeName"}).empty()) return 0;
  std::string_view phase = text_at(object, {"status", "phase"});
  if (phase == "Succeeded" || phase == "Failed") return 0;
  if (wanted) return std::max<int64_t>(0, *wanted);
  return kube::int_at(object, {"spec", "terminationGracePeriodSeconds"}).value_or(kGraceSecondsDefault);
}

kube::Propagation propagation_of(const json::object& object) {
  if (kube::has_finalizer(object, kOrphanFinalizer)) return kube::Propagation::kOrphan;
  if (kube::has_finalizer(object, kForegroundFinalizer)) return kube::Propagation::kForeground;
  return kube::Propagation::kBackground;
}

}  // namespace

Result<Object> Store::remove(const kube::Resource& resource, std::string_view ns, std::string_view name,
                             const kube::DeleteOptions& options, Time now, bool dry_run) {
  Table& table = table_for(resource);
  const Object* found = find_object(table, ns, name);
  if (found == nullptr) return not_found(resource, name);
  Object before = *found;
  if (std::optional<Error> error = check_preconditions(resource, *before, options.uid, options.version)) {
    return *error;
  }
  if (rules_.namespaces && resource == kube::kNamespaces && is_immortal_namespace(name)) {
    return forbidden(resource, name, "this namespace may not be deleted");
  }
  const int64_t revision = revision_;
  Object after = start_deletion(table, before, options, now);
  if (dry_run) rollback(revision);
  return after;
}

Object Store::start_deletion(Table& table, const Object& before, const kube::DeleteOptions& options,
                             Time now) {
  int64_t grace = grace_of(table.resource, *before, options.grace_seconds);
  bool already = kube::is_deleting(*before);
  bool held = has_finalizers(*before) || options.propagation != kube::Propagation::kBackground ||
              table.resource.plural == kube::kNamespaces.plural;
  // What goes at once was never seen being deleted.
  if (!already && !held && grace == 0) return erase(table, before, *before);
  json::object after = copy_of(*before);
  set_finalizer(after, kOrphanFinalizer, options.propagation == kube::Propagation::kOrphan);
  set_finalizer(after, kForegroundFinalizer, options.propagation == kube::Propagation::kForeground);
  json::object& metadata = after["metadata"].get_object();
  int64_t left = kube::int_at(*before, {"metadata", "deletionGracePeriodSeconds"}).value_or(0);
  if (!already || grace < left) {
    // A shorter grace counts from when the deletion was first asked for.
    std::optional<Time> mark = parse_rfc3339(text_at(*before, {"metadata", "deletionTimestamp"}));
    Time asked = already && mark ? *mark - seconds(left) : now;
    metadata["deletionTimestamp"] = format_rfc3339(asked + seconds(grace));
    metadata["deletionGracePeriodSeconds"] = grace;
  }
  if (!already) metadata["generation"] = kube::generation_of(*before) + 1;
  if (rules_.namespaces && table.resource == kube::kNamespaces) {
    kube::ensure_object(after, {"status"})["phase"] = "Terminating";
  }
  if (is_ready_to_go(after)) {
    return already ? erase(table, before, std::move(after)) : erase(table, before, *before);
  }
  if (kube::same(after, *before)) return before;
  return put(table, before, std::move(after));
}

Result<std::vector<Object>> Store::remove_collection(const kube::Resource& resource, std::string_view ns,
                                                     const kube::DeleteCollection& which, Time now,
                                                     bool dry_run) {
  Result<Page> page = list(resource, ns, {which.labels, which.fields});
  if (!page.ok()) return page.error();
  if (dry_run) return std::move(page.value().items);
  for (Object& object : page.value().items) {
    object = start_deletion(table_for(resource), object, which.options, now);
  }
  return std::move(page.value().items);
}

void Store::index(const Table& table, const json::object* before, const json::object* after) {
  const json::object& any = after != nullptr ? *after : *before;
  const bool stays = before != nullptr && after != nullptr;
  const bool owners_changed = !stays || !has_same_owners(*before, *after);
  const bool waits = after != nullptr && kube::is_deleting(*after) &&
                     propagation_of(*after) != kube::Propagation::kBackground;
  const bool is_namespace = rules_.namespaces && table.resource.plural == kube::kNamespaces.plural;
  // Most writes change nothing of what is looked up here.
  if (stays && !owners_changed && !waits && !is_namespace && waiting_owners_.empty()) return;
  const Place place = place_of(table, any);
  std::string uid(kube::uid_of(any));
  if (owners_changed) {
    index_owners(place, before, false);
    index_owners(place, after, true);
  }
  if (waits) {
    waiting_owners_.insert(uid);
  } else {
    waiting_owners_.erase(uid);
  }
  if (after == nullptr) {
    by_uid_.erase(uid);
  } else if (before == nullptr) {
    by_uid_.emplace(uid, place);
  }
  if (owners_changed && after != nullptr && !owners_of(*after).empty()) suspects_.insert(place);
  if (after == nullptr || waits) suspect_dependents(uid);
  if (rules_.namespaces) index_namespaces(place, after);
}

Store::Place Store::place_of(const Table& table, const json::object& object) {
  const std::string_view ns = table.resource.namespaced ? kube::namespace_of(object) : std::string_view{};
  return {{table.resource.group, table.resource.plural}, ObjectKey(ns, kube::name_of(object))};
}

void Store::suspect_dependents(const std::string& owner_uid) {
  auto found = dependents_.find(owner_uid);
  if (found != dependents_.end()) suspects_.insert(found->second.begin(), found->second.end());
}

void Store::index_owners(const Place& place, const json::object* object, bool present) {
  if (object == nullptr) return;
  for (std::string_view owner : owners_of(*object)) {
    if (present) {
      dependents_[std::string(owner)].insert(place);
      continue;
    }
    auto found = dependents_.find(owner);
    if (found == dependents_.end()) continue;
    found->second.erase(place);
    if (found->second.empty()) dependents_.erase(found);
  }
}

Store::Table& Store::table_at(const Place& place) {
  auto found = tables_.find(place.type);
  CHECK(found != tables_.end());
  return found->second;
}

const Object& Store::object_at(const Place& place) const {
  auto table = tables_.find(place.type);
  CHECK(table != tables_.end());
  auto found = table->second.objects.find(place.key);
  CHECK(found != table->second.objects.end());
  return found->second;
}

int Store::collect_garbage(Time now) {
  int writes = 0;
  for (const Place& place : std::exchange(suspects_, {})) writes += collect_dependent(place, now) ? 1 : 0;
  for (const std::string& owner : std::set<std::string>(waiting_owners_)) {
    writes += finish_orphaning(owner);
    writes += finish_foreground(owner) ? 1 : 0;
  }
  for (const std::string& name : std::exchange(emptying_, {})) writes += empty_namespace(name, now);
  return writes;
}

bool Store::collect_dependent(const Place& place, Time now) {
  const Table& table = table_at(place);
  auto found = table.objects.find(place.key);
  if (found == table.objects.end()) return false;
  Object object = found->second;
  if (kube::is_deleting(*object)) return false;
  int solid = 0;
  bool owner_waits = false;
  std::set<std::string> useless;  // owners that are gone or wait for this very object to go
  for (std::string_view uid : owners_of(*object)) {
    auto owner = by_uid_.find(uid);
    // An owner in another namespace counts as gone; one without a namespace is everybody's.
    bool exists = owner != by_uid_.end() &&
                  (owner->second.key.first.empty() || owner->second.key.first == place.key.first);
    bool waits = exists && waits_for_dependents(*object_at(owner->second));
    owner_waits = owner_waits || waits;
    if (exists && !waits) {
      ++solid;
    } else {
      useless.emplace(uid);
    }
  }
  if (useless.empty()) return false;
  if (solid > 0) return drop_owners(place, useless);
  kube::DeleteOptions options;
  bool has_dependents = dependents_.contains(kube::uid_of(*object));
  options.propagation =
      owner_waits && has_dependents ? kube::Propagation::kForeground : propagation_of(*object);
  int64_t before = revision_;
  start_deletion(table_at(place), object, options, now);
  return revision_ != before;
}

bool Store::drop_owners(const Place& place, const std::set<std::string>& owner_uids) {
  const Object before = object_at(place);
  json::object after = copy_of(*before);
  json::array& owners = kube::ensure_array(after, {"metadata", "ownerReferences"});
  for (auto it = owners.begin(); it != owners.end();) {
    bool drop = it->is_object() && owner_uids.contains(std::string(text_at(it->get_object(), {"uid"})));
    it = drop ? owners.erase(it) : it + 1;
  }
  if (owners.empty()) after["metadata"].get_object().erase("ownerReferences");
  if (kube::same(after, *before)) return false;
  put(table_at(place), before, std::move(after));
  return true;
}

bool Store::drop_finalizer(const Place& place, std::string_view finalizer) {
  const Object before = object_at(place);
  if (!kube::has_finalizer(*before, finalizer)) return false;
  json::object after = copy_of(*before);
  set_finalizer(after, finalizer, false);
  if (is_ready_to_go(after)) {
    erase(table_at(place), before, std::move(after));
  } else {
    put(table_at(place), before, std::move(after));
  }
  return true;
}

int Store::finish_orphaning(const std::string& owner_uid) {
  auto owner = by_uid_.find(owner_uid);
  if (owner == by_uid_.end() || !kube::has_finalizer(*object_at(owner->second), kOrphanFinalizer)) return 0;
  int writes = 0;
  auto found = dependents_.find(owner_uid);
  std::set<Place> places = found == dependents_.end() ? std::set<Place>{} : found->second;
  for (const Place& place : places) writes += drop_owners(place, {owner_uid}) ? 1 : 0;
  Place place = owner->second;
  writes += drop_finalizer(place, kOrphanFinalizer) ? 1 : 0;
  return writes;
}

bool Store::finish_foreground(const std::string& owner_uid) {
  auto owner = by_uid_.find(owner_uid);
  if (owner == by_uid_.end() || !waits_for_dependents(*object_at(owner->second))) return false;
  auto found = dependents_.find(owner_uid);
  if (found != dependents_.end()) {
    bool blocked = std::any_of(found->second.begin(), found->second.end(), [&](const Place& place) {
      return blocks_owner(*object_at(place), owner_uid);
    });
    if (blocked) return false;
  }
  Place place = owner->second;
  return drop_finalizer(place, kForegroundFinalizer);
}

}  // namespace trainyard::store
