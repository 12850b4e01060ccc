// Reading the store as a whole: lists in pages, and the watch log.
#include <charconv>

#include "kube/access.h"
#include "kube/selector.h"
#include "store/store.h"

namespace trainyard::store {

namespace {

std::optional<int64_t> parse_revision(std::string_view text) {
  int64_t n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 0) return std::nullopt;
  return n;
}

// Where a list of pages goes on: the revision of its first page, and the last object given.
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

// As a watcher is told of an object that stopped matching: its last matching form.
Object at_revision(const Object& object, int64_t revision) {
  json::object copy = *object;
  copy["metadata"].get_object()["resourceVersion"] = std::to_string(revision);
  return std::make_shared<const json::object>(std::move(copy));
}

}  // namespace

Result<Page> Store::list(const kube::Resource& resource, std::string_view ns, const kube::List& query) const {
  Page page;
  page.revision = revision_;
  std::optional<Bookmark> from;
  if (!query.continue_token.empty()) {
    from = from_token(query.continue_token);
    if (!from) return Error{ErrorKind::kInvalid, "continue: this is not a token of ours"};
    if (from->revision < compacted_) {
      return Error{ErrorKind::kGone, "the list that this token continues is too old"};
    }
    // Later pages show later objects; a watch from the first page's revision tells the rest.
    page.revision = from->revision;
  }
  const Table* table = find_table(resource);
  if (table == nullptr) return page;
  auto it = from ? table->objects.upper_bound(ObjectKey(from->ns, from->name)) : table->objects.begin();
  for (; it != table->objects.end(); ++it) {
    const Object& object = it->second;
    if (resource.namespaced && !ns.empty() && it->first.first != ns) continue;
    if (!query.labels.matches(*object) || !query.fields.matches(*object)) continue;
    if (query.limit > 0 && page.items.size() == static_cast<size_t>(query.limit)) {
      const json::object& last = *page.items.back();
      page.continue_token =
          to_token({page.revision, std::string(kube::namespace_of(last)), std::string(kube::name_of(last))});
      break;
    }
    page.items.push_back(object);
  }
  return page;
}

Result<std::vector<WatchEvent>> Store::events_since(const kube::Resource& resource, int64_t revision) const {
  if (revision < compacted_) {
    return Error{ErrorKind::kGone, fmt::format("too old resource version: {} ({})", revision, compacted_)};
  }
  const Table* table = find_table(resource);
  if (table == nullptr) return std::vector<WatchEvent>{};
  auto first = std::partition_point(table->log.begin(), table->log.end(),
                                    [&](const WatchEvent& event) { return event.revision <= revision; });
  return std::vector<WatchEvent>(first, table->log.end());
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
  if (!since)
    return Error{ErrorKind::kInvalid, fmt::format("resourceVersion: Invalid value: {}", query.version)};
  Result<std::vector<WatchEvent>> events = events_since(resource, *since);
  if (!events.ok()) return events.error();
  auto matches = [&](const Object& object) {
    if (object == nullptr) return false;
    if (resource.namespaced && !ns.empty() && kube::namespace_of(*object) != ns) return false;
    return query.labels.matches(*object) && query.fields.matches(*object);
  };
  for (const WatchEvent& event : *events) {
    bool was = matches(event.before);
    bool is = event.kind != ChangeKind::kDeleted && matches(event.object);
    if (is) {
      told.push_back(
          {was ? ChangeKind::kModified : ChangeKind::kAdded, event.revision, event.object, event.before});
    } else if (was) {
      Object last =
          event.kind == ChangeKind::kDeleted ? event.object : at_revision(event.before, event.revision);
      told.push_back({ChangeKind::kDeleted, event.revision, last, event.before});
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
