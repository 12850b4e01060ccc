// The store backwards and from elsewhere: what changed, taking changes back, building a
// store from what a journal kept.
#include "kube/access.h"
#include "store/store.h"

namespace trainyard::store {

std::vector<Change> Store::changes_since(int64_t revision) const {
  CHECK(revision >= compacted_);
  std::vector<Change> changes;
  for (const auto& [type, table] : tables_) {
    if (table.log.empty() || table.log.back().revision <= revision) continue;
    auto first = std::partition_point(table.log.begin(), table.log.end(),
                                      [&](const WatchEvent& event) { return event.revision <= revision; });
    for (; first != table.log.end(); ++first) changes.push_back({table.resource, *first});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.event.revision < b.event.revision; });
  return changes;
}

std::vector<int64_t> Store::superseded_up_to(int64_t revision) const {
  std::vector<int64_t> superseded;
  for (const auto& [type, table] : tables_) {
    for (const WatchEvent& event : table.log) {
      if (event.revision > revision) break;
      if (event.before != nullptr) superseded.push_back(kube::version_of(*event.before));
      if (event.kind == ChangeKind::kDeleted) superseded.push_back(event.revision);
    }
  }
  std::sort(superseded.begin(), superseded.end());
  return superseded;
}

void Store::rollback(int64_t revision) {
  std::vector<Change> changes = changes_since(revision);
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) undo(*change);
  revision_ = revision;
}

void Store::undo(const Change& change) {
  const WatchEvent& event = change.event;
  Table& table = table_for(change.resource);
  Place place = place_of(table, *event.object);
  CHECK(!table.log.empty() && table.log.back().revision == event.revision);
  table.log.pop_back();
  if (event.before == nullptr) {
    table.objects.erase(place.key);
  } else {
    table.objects[place.key] = event.before;
  }
  index(table, event.kind == ChangeKind::kDeleted ? nullptr : event.object.get(), event.before.get());
  // Whatever the collector had done about it may be undone now.
  if (event.before != nullptr) suspects_.insert(std::move(place));
}

void Store::replay(const kube::Resource& resource, ChangeKind kind, Object object, bool in_log) {
  CHECK(kind != ChangeKind::kBookmark && object != nullptr);
  Table& table = table_for(resource);
  ObjectKey key(resource.namespaced ? kube::namespace_of(*object) : std::string_view{},
                kube::name_of(*object));
  auto found = table.objects.find(key);
  Object before = found == table.objects.end() ? nullptr : found->second;
  if (kind != ChangeKind::kDeleted) {
    table.objects.insert_or_assign(std::move(key), object);
  } else if (found != table.objects.end()) {
    table.objects.erase(found);
  }
  if (kind != ChangeKind::kDeleted || before != nullptr) {
    index(table, before.get(), kind == ChangeKind::kDeleted ? nullptr : object.get());
  }
  revision_ = std::max(revision_, kube::version_of(*object));
  if (in_log) table.log.push_back({kind, kube::version_of(*object), std::move(object), std::move(before)});
}

void Store::set_counters(int64_t revision, int64_t compacted, uint64_t uids) {
  CHECK(revision >= revision_ && compacted <= revision);
  revision_ = revision;
  compacted_ = compacted;
  uids_ = std::max(uids_, uids);
}

}  // namespace trainyard::store
