#include "hub/watchers.h"

#include "kube/access.h"
#include "store/errors.h"

namespace trainyard::hub {

namespace {

// Everything up to `revision` has been told.
WatchEvent bookmark_at(const kube::Resource& resource, int64_t revision, bool ends_initial_events) {
  json::object metadata{{"resourceVersion", std::to_string(revision)}, {"creationTimestamp", nullptr}};
  if (ends_initial_events) {
    metadata["annotations"] = json::object{{"k8s.io/initial-events-end", "true"}};
  }
  json::object object{
      {"kind", resource.kind}, {"apiVersion", resource.api_version()}, {"metadata", std::move(metadata)}};
  return {store::ChangeKind::kBookmark, revision, std::make_shared<const json::object>(std::move(object)),
          nullptr};
}

bool begins_with_present(const kube::Watch& query) {
  return query.send_initial_events || query.version.empty() || query.version == "0";
}

}  // namespace

template <typename Call>
void Watcher::with_sink(Call call) {
  std::lock_guard lock(mutex_);
  if (dropped_) return;
  calling_ = true;
  call();
  calling_ = false;
  if (dropped_) sink_ = {};
}

void Watcher::tell(const std::vector<WatchEvent>& events) {
  if (events.empty()) return;
  with_sink([&] {
    if (sink_.on_events) sink_.on_events(events);
  });
}

void Watcher::close(const std::optional<Error>& error) {
  with_sink([&] {
    dropped_ = true;
    if (sink_.on_closed) sink_.on_closed(error);
  });
}

void Watcher::drop() {
  std::lock_guard lock(mutex_);
  dropped_ = true;
  if (!calling_) sink_ = {};
}

bool Watcher::is_dropped() const {
  std::lock_guard lock(mutex_);
  return dropped_;
}

void deliver(const Telling& telling, Departures& departures) {
  Watcher& watcher = *telling.watcher;
  std::vector<WatchEvent> events = telling.present;
  for (const WatchEvent& event : telling.changes) {
    std::optional<WatchEvent> seen = store::as_watched(event, watcher.resource_, watcher.ns_, watcher.query_);
    if (!seen) continue;
    if (seen->object != event.object) {
      seen->object = departures.try_emplace(event.revision, seen->object).first->second;
    }
    events.push_back(std::move(*seen));
  }
  if (telling.bookmark) events.push_back(*telling.bookmark);
  watcher.tell(events);
  if (telling.over) watcher.close(telling.over);
}

Result<std::shared_ptr<Watcher>> Watchers::add(const store::Store& store, int64_t committed,
                                               const kube::Resource& resource, std::string_view ns,
                                               const kube::Watch& query, WatchSink sink,
                                               Steady::time_point now) {
  // Tells nothing, only whether it could.
  kube::List probe;
  probe.fields = query.fields;
  probe.version = query.version;
  probe.version_match = begins_with_present(query) ? "NotOlderThan" : "Exact";
  probe.limit = 1;
  Result<store::Page> page = store.list(resource, ns, probe);
  if (!page.ok()) return page.error();
  auto watcher = std::make_shared<Watcher>(resource, std::string(ns), query, std::move(sink));
  watcher->has_begun_ = !begins_with_present(query);
  watcher->told_ = watcher->has_begun_ ? page->revision : committed;
  if (watcher->told_ > committed) return store::too_large_version(watcher->told_, committed);
  if (query.timeout_seconds > 0) {
    watcher->last_bookmark_at_ = now + std::chrono::seconds(query.timeout_seconds) - kBookmarkBeforeEnd;
  }
  expect_bookmark(*watcher, now);
  all_.push_back(watcher);
  has_new_ = true;
  return watcher;
}

void Watchers::expect_bookmark(Watcher& watcher, Steady::time_point now) {
  if (!watcher.query_.bookmarks) return;
  watcher.bookmark_at_ = now + kBookmarkEvery;
  // Who comes again after the end goes on from there.
  const std::optional<Steady::time_point>& last = watcher.last_bookmark_at_;
  if (last && *last > now) watcher.bookmark_at_ = std::min(watcher.bookmark_at_, *last);
  next_bookmark_ = std::min(next_bookmark_.value_or(watcher.bookmark_at_), watcher.bookmark_at_);
}

void Watchers::begin(const store::Store& store, Watcher& watcher, int64_t committed, Telling& telling) {
  // The present is that of when the watch was asked for, unless it has already been compacted.
  if (watcher.told_ < store.compacted()) watcher.told_ = committed;
  kube::List query;
  query.labels = watcher.query_.labels;
  query.fields = watcher.query_.fields;
  query.version = std::to_string(watcher.told_);
  query.version_match = "Exact";
  Result<store::Page> page = store.list(watcher.resource_, watcher.ns_, query);
  watcher.has_begun_ = true;
  if (!page.ok()) {
    telling.over = page.error();
    return;
  }
  for (const Object& object : page->items) {
    telling.present.push_back({store::ChangeKind::kAdded, kube::version_of(*object), object, nullptr});
  }
  std::sort(telling.present.begin(), telling.present.end(),
            [](const WatchEvent& a, const WatchEvent& b) { return a.revision < b.revision; });
  if (watcher.query_.send_initial_events) {
    telling.present.push_back(bookmark_at(watcher.resource_, watcher.told_, true));
  }
}

void Watchers::go_on(const store::Store& store, const LogSizes& sizes, Watcher& watcher, int64_t committed,
                     Telling& telling) {
  if (watcher.told_ >= committed) return;
  Result<std::vector<WatchEvent>> events = store.events_since(watcher.resource_, watcher.told_);
  if (!events.ok()) {
    telling.over = events.error();
    return;
  }
  telling.changes = std::move(events).value();
  std::erase_if(telling.changes, [&](const WatchEvent& event) { return event.revision > committed; });
  for (WatchEvent& event : telling.changes) event.bytes = sizes.of(event.revision);
  watcher.told_ = committed;
}

std::vector<Telling> Watchers::take(const store::Store& store, const LogSizes& sizes, int64_t committed,
                                    Steady::time_point now) {
  std::erase_if(all_, [](const std::shared_ptr<Watcher>& watcher) { return watcher->is_dropped(); });
  std::vector<Telling> tellings;
  next_bookmark_.reset();
  for (const std::shared_ptr<Watcher>& watcher : all_) {
    Telling telling;
    if (!watcher->has_begun_) begin(store, *watcher, committed, telling);
    if (!telling.over) go_on(store, sizes, *watcher, committed, telling);
    if (watcher->query_.bookmarks && now >= watcher->bookmark_at_) {
      expect_bookmark(*watcher, now);
      telling.bookmark = bookmark_at(watcher->resource_, committed, false);
    } else if (watcher->query_.bookmarks) {
      next_bookmark_ = std::min(next_bookmark_.value_or(watcher->bookmark_at_), watcher->bookmark_at_);
    }
    if (telling.empty()) continue;
    telling.watcher = watcher;
    tellings.push_back(std::move(telling));
  }
  has_new_ = false;
  return tellings;
}

}  // namespace trainyard::hub
