// Barrier: read-your-writes. Remembers, per key, what was written on its behalf, so
// that the key is not planned again on a view that has not yet shown it. Pure value.
//
// The wait is bounded: when a write has not been seen after kBarrierPatience,
// take_overdue() names the streams to list afresh. Such a list begins after the write, so
// it shows the truth, whatever that is, and settles the matter.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "client/cache.h"

namespace trainyard::client {

inline constexpr Duration kBarrierPatience{15'000};

// Something that must be seen. `stream` is the caller's number for a cache.
struct Expected {
  int stream = 0;
  ObjectKey object;
  // Written at this version: seen when the object is at it or past it, or the stream is.
  int64_t version = 0;
  // Or deleted: seen when no live object has this uid; "" when it was written.
  std::string gone_uid;
  Time since;
  // Set once a fresh list was asked for: seen when the cache has had more lists than this.
  std::optional<int> lists;

  bool operator==(const Expected&) const = default;
};

template <typename Key>
class Barrier {
 public:
  using CacheOf = std::function<const Cache&(int stream)>;

  void expect(const Key& key, Expected expected) { expected_[key].push_back(std::move(expected)); }
  void drop(const Key& key) { expected_.erase(key); }

  // Whether the key must wait; forgets what has been seen, and tells `shown` of each.
  bool blocks(const Key& key, const CacheOf& cache_of,
              const std::function<void(const Expected&)>& shown = nullptr);
  // The keys that expect something of this stream. A fresh list settles it, and wakes nobody whose object it
  // does not hold: one that was gone before it was seen.
  std::vector<Key> expecting(int stream) const;
  // When patience ends for a key that waits.
  std::optional<Time> patience_ends(const Key& key) const;
  // The streams that hold the key up for too long. REQUIRES: the caller lists them afresh,
  // discarding lists already under way.
  std::vector<int> take_overdue(const Key& key, Time now, const CacheOf& cache_of);

 private:
  std::map<Key, std::vector<Expected>> expected_;
};

// Whether the cache has shown it.
bool has_shown(const Cache& cache, const Expected& expected);

template <typename Key>
bool Barrier<Key>::blocks(const Key& key, const CacheOf& cache_of,
                          const std::function<void(const Expected&)>& shown) {
  auto found = expected_.find(key);
  if (found == expected_.end()) return false;
  std::erase_if(found->second, [&](const Expected& e) {
    bool seen = has_shown(cache_of(e.stream), e);
    if (seen && shown) shown(e);
    return seen;
  });
  if (!found->second.empty()) return true;
  expected_.erase(found);
  return false;
}

template <typename Key>
std::vector<Key> Barrier<Key>::expecting(int stream) const {
  std::vector<Key> keys;
  for (const auto& [key, all] : expected_) {
    const auto is_of = [stream](const Expected& e) { return e.stream == stream; };
    if (std::any_of(all.begin(), all.end(), is_of)) keys.push_back(key);
  }
  return keys;
}

template <typename Key>
std::optional<Time> Barrier<Key>::patience_ends(const Key& key) const {
  auto found = expected_.find(key);
  if (found == expected_.end()) return std::nullopt;
  std::optional<Time> first;
  for (const Expected& e : found->second) {
    Time end = e.since + kBarrierPatience;
    if (!first || end < *first) first = end;
  }
  return first;
}

template <typename Key>
std::vector<int> Barrier<Key>::take_overdue(const Key& key, Time now, const CacheOf& cache_of) {
  std::set<int> streams;
  auto found = expected_.find(key);
  if (found == expected_.end()) return {};
  for (Expected& e : found->second) {
    e.since = std::min(e.since, now);  // the clock may have gone back
    if (e.since + kBarrierPatience > now) continue;
    e.lists = cache_of(e.stream).lists();
    e.since = now;
    streams.insert(e.stream);
  }
  return {streams.begin(), streams.end()};
}

}  // namespace trainyard::client
