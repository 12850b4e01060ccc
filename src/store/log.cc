// Reading the store as a whole: lists in pages, and the watch log.
#include <charconv>

#include "kube/access.h"
#include "kube/selector.h"
#include "store/continue_token.h"
#include "store/errors.h"
#include "store/fields.h"
#include "store/store.h"

namespace trainyard::store {

namespace {

std::optional<int64_t> parse_revision(std::string_view text) {
  int64_t n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 0) return std::nullopt;
  return n;
}

// Where a list of pages goes on: the revision of its first page (0: whichever is the newest), and
// the last object given.
struct Bookmark {
  int64_t revision = 0;
  std::string ns;
  std::string name;
};

std::string to_token(const Bookmark& at) { return fmt::format("{}/{}/{}", at.revision, at.ns, at.name); }

std::optional<Bookmark> from_token(std::string_view token) {
  size_t first = token.find('/');
  size_t second = first == std::string_view::npos ? first : token.find('/', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  std::optional<int64_t> revision = parse_revision(token.substr(0, first));
  if (!revision) return std::nullopt;
  return Bookmark{*revision, std::string(token.substr(first + 1, second - first - 1)),
                  std::string(token.substr(second + 1))};
}

Error invalid_version(std::string_view version) {
  return {ErrorKind::kInvalid,
          fmt::format("resourceVersion: Invalid value: \"{}\": must be a number", kube::shown(version))};
}

// As a watcher is told of an object that stopped matching: its last matching form.
Object at_revision(const Object& object, int64_t revision) {
  json::object copy = *object;
  copy["metadata"].get_object()["resourceVersion"] = std::to_string(revision);
  return std::make_shared<const json::object>(std::move(copy));
}

}  // namespace

std::string renewed_token(std::string_view token) {
  std::optional<Bookmark> at = from_token(token);
  if (!at) return "";
  at->revision = 0;
  return to_token(*at);
}

// What differs from now in what was at an earlier revision: null for what was not there.
Store::Objects Store::differences_at(const Table& table, int64_t revision) const {
  Objects differences;
  auto first = std::partition_point(table.log.begin(), table.log.end(),
                                    [&](const WatchEvent& event) { return event.revision <= revision; });
  for (; first != table.log.end(); ++first) {
    const json::object& object = *first->object;
    std::string_view ns = table.resource.namespaced ? kube::namespace_of(object) : std::string_view{};
    differences.try_emplace(ObjectKey(ns, kube::name_of(object)), first->before);
  }
  return differences;
}

// Of which revision a list shows the objects, and after which one it begins.
Result<Store::ListStart> Store::list_start(const kube::List& query) const {
  ListStart start{revision_, std::nullopt};
  if (!query.continue_token.empty()) {
    std::optional<Bookmark> from = from_token(query.continue_token);
    if (!from || from->revision > revision_) {
      return Error{ErrorKind::kInvalid, "continue key is not valid: this is not a token of ours"};
    }
    if (!query.version.empty() && query.version != "0") {
      return Error{ErrorKind::kInvalid, "specifying resource version is not allowed when using continue"};
    }
    if (from->revision == 0) return ListStart{revision_, ObjectKey(from->ns, from->name)};
    if (from->revision < compacted_) {
      return Error{
          ErrorKind::kGone,
          "The provided continue parameter is too old to display a consistent list result. Start a "
          "new list without it, or go on with the token of this answer to see the rest as it is now."};
    }
    return ListStart{from->revision, ObjectKey(from->ns, from->name)};
  }
  if (query.version.empty() || query.version == "0") return start;
  std::optional<int64_t> wanted = parse_revision(query.version);
  if (!wanted) return invalid_version(query.version);
  if (*wanted > revision_) return too_large_version(*wanted, revision_);
  bool exact = query.version_match.empty() ? query.limit > 0 : query.version_match == "Exact";
  if (!exact) return start;
  if (*wanted < compacted_) return too_old_version(*wanted, compacted_);
  start.revision = *wanted;
  return start;
}

Result<Page> Store::list(const kube::Resource& resource, std::string_view ns, const kube::List& query) const {
  if (std::optional<Error> error = check_field_labels(resource, query.fields)) return *error;
  Result<ListStart> start = list_start(query);
  if (!start.ok()) return start.error();
  Page page;
  page.revision = start->revision;
  const Table* table = find_table(resource);
  if (table == nullptr) return page;
  Objects differences;
  if (page.revision < revision_) differences = differences_at(*table, page.revision);
  const bool selects = !query.labels.matches_everything() || !query.fields.terms().empty();
  int64_t remaining = 0;
  auto take = [&](const ObjectKey& key, const Object& object) {
    if (object == nullptr || (resource.namespaced && !ns.empty() && key.first != ns)) return true;
    if (selects && !(query.labels.matches(*object) && matches_fields(resource, query.fields, *object))) {
      return true;
    }
    if (query.limit == 0 || page.items.size() < static_cast<size_t>(query.limit)) {
      page.items.push_back(object);
      return true;
    }
    ++remaining;
    return !selects;
  };
  // Two ordered walks side by side: what is there now, and what was different then.
  ObjectKey from = start->after.value_or(ObjectKey(resource.namespaced ? ns : std::string_view{}, ""));
  auto now = start->after ? table->objects.upper_bound(from) : table->objects.lower_bound(from);
  auto then = start->after ? differences.upper_bound(from) : differences.lower_bound(from);
  while (now != table->objects.end() || then != differences.end()) {
    bool is_different =
        then != differences.end() && (now == table->objects.end() || !PairLess()(now->first, then->first));
    const auto& [key, object] = is_different ? *then : *now;
    if (resource.namespaced && !ns.empty() && key.first > ns) break;
    if (!take(key, object)) break;
    if (is_different && now != table->objects.end() && now->first == key) ++now;
    if (is_different) {
      ++then;
    } else {
      ++now;
    }
  }
  if (remaining > 0) {
    const json::object& last = *page.items.back();
    page.continue_token =
        to_token({page.revision, std::string(kube::namespace_of(last)), std::string(kube::name_of(last))});
    if (!selects) page.remaining = remaining;
  }
  return page;
}

std::optional<WatchEvent> as_watched(const WatchEvent& event, const kube::Resource& resource,
                                     std::string_view ns, const kube::Watch& query) {
  auto matches = [&](const Object& object) {
    if (object == nullptr) return false;
    if (resource.namespaced && !ns.empty() && kube::namespace_of(*object) != ns) return false;
    return query.labels.matches(*object) && matches_fields(resource, query.fields, *object);
  };
  bool was = matches(event.before);
  bool is = event.kind != ChangeKind::kDeleted && matches(event.object);
  if (is) {
    return WatchEvent{was ? ChangeKind::kModified : ChangeKind::kAdded, event.revision, event.object,
                      event.before, event.bytes};
  }
  if (!was) return std::nullopt;
  Object last = event.kind == ChangeKind::kDeleted ? event.object : at_revision(event.before, event.revision);
  return WatchEvent{ChangeKind::kDeleted, event.revision, last, event.before, event.bytes};
}

Result<std::span<const WatchEvent>> Store::log_since(const kube::Resource& resource, int64_t revision) const {
  if (revision < compacted_) return too_old_version(revision, compacted_);
  if (revision > revision_) return too_large_version(revision, revision_);
  const Table* table = find_table(resource);
  // Most who ask have seen everything.
  if (table == nullptr || table->log.empty() || table->log.back().revision <= revision) {
    return std::span<const WatchEvent>();
  }
  auto first = std::partition_point(table->log.begin(), table->log.end(),
                                    [&](const WatchEvent& event) { return event.revision <= revision; });
  return std::span<const WatchEvent>(first, table->log.end());
}

Result<std::vector<WatchEvent>> Store::events_since(const kube::Resource& resource, int64_t revision) const {
  Result<std::span<const WatchEvent>> events = log_since(resource, revision);
  if (!events.ok()) return events.error();
  return std::vector<WatchEvent>(events->begin(), events->end());
}

Result<std::vector<WatchEvent>> Store::watch(const kube::Resource& resource, std::string_view ns,
                                             const kube::Watch& query) const {
  std::vector<WatchEvent> told;
  if (query.version.empty() || query.version == "0") {
    Result<Page> page = list(resource, ns, {query.labels, query.fields});
    if (!page.ok()) return page.error();
    for (const Object& object : page->items) {
      told.push_back({ChangeKind::kAdded, kube::version_of(*object), object, nullptr});
    }
    // Like everything that a watch tells: in the order of versions, which are unique.
    std::sort(told.begin(), told.end(),
              [](const WatchEvent& a, const WatchEvent& b) { return a.revision < b.revision; });
    return told;
  }
  std::optional<int64_t> since = parse_revision(query.version);
  if (!since) return invalid_version(query.version);
  if (std::optional<Error> error = check_field_labels(resource, query.fields)) return *error;
  Result<std::span<const WatchEvent>> events = log_since(resource, *since);
  if (!events.ok()) return events.error();
  for (const WatchEvent& event : *events) {
    if (std::optional<WatchEvent> seen = as_watched(event, resource, ns, query)) {
      told.push_back(std::move(*seen));
    }
  }
  return told;
}

WatchEvent Store::bookmark(const kube::Resource& resource) const {
  json::object object{{"kind", resource.kind},
                      {"apiVersion", resource.api_version()},
                      {"metadata", json::object{{"resourceVersion", std::to_string(revision_)}}}};
  return {ChangeKind::kBookmark, revision_, std::make_shared<const json::object>(std::move(object)), nullptr};
}

void Store::compact(int64_t revision) {
  compacted_ = std::max(compacted_, std::min(revision, revision_));
  for (auto& [type, table] : tables_) {
    auto kept = std::partition_point(table.log.begin(), table.log.end(),
                                     [&](const WatchEvent& event) { return event.revision <= compacted_; });
    table.log.erase(table.log.begin(), kept);
  }
}

}  // namespace trainyard::store
