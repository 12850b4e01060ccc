// Queue: which key is looked at next. Pure: time is a parameter; equal calls give equal
// answers.
//
// Guarantees: a key stands in it once, at the earliest time asked for; it is never given
// out again before done(), and what was asked meanwhile waits until then; among keys
// that are due the one that waited longest comes first, so a busy key cannot starve
// another. Back-off is per key and grows until reset().
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/time.h"

namespace trainyard::control {

inline constexpr Duration kBackOffFirst{200};
inline constexpr Duration kBackOffMax{120'000};

template <typename Key>
class Queue {
 public:
  // Looks at the key at `at` or earlier.
  void add(const Key& key, Time at);
  // The key to look at now; nullopt when none is due.
  std::optional<Key> take(Time now);
  // REQUIRES: the key was taken and not yet done.
  void done(const Key& key);
  // When to try again after one more failure in a row.
  Time back_off(const Key& key, Time now);
  void reset(const Key& key) { failures_.erase(key); }
  // Nothing more about a key that no longer exists.
  void forget(const Key& key);

  // The earliest time at which take() gives something.
  std::optional<Time> next() const;
  size_t size() const { return due_.size() + later_.size(); }
  bool empty() const { return size() == 0; }

 private:
  struct Entry {
    Time due;
    uint64_t turn = 0;
    Key key;
    // order: due asc, turn asc (unique)
    bool operator<(const Entry& other) const { return std::tie(due, turn) < std::tie(other.due, other.turn); }
  };
  void insert(const Key& key, Time at);

  std::set<Entry> order_;
  std::map<Key, Entry> due_;
  std::map<Key, Time> later_;  // asked for while in flight
  std::set<Key> in_flight_;
  std::map<Key, int> failures_;
  uint64_t turns_ = 0;
};

template <typename Key>
void Queue<Key>::insert(const Key& key, Time at) {
  auto found = due_.find(key);
  if (found != due_.end()) {
    if (found->second.due <= at) return;
    order_.erase(found->second);
    due_.erase(found);
  }
  Entry entry{at, turns_++, key};
  order_.insert(entry);
  due_.emplace(key, std::move(entry));
}

template <typename Key>
void Queue<Key>::add(const Key& key, Time at) {
  if (!in_flight_.contains(key)) return insert(key, at);
  auto [found, added] = later_.emplace(key, at);
  if (!added) found->second = std::min(found->second, at);
}

template <typename Key>
std::optional<Key> Queue<Key>::take(Time now) {
  if (order_.empty() || order_.begin()->due > now) return std::nullopt;
  Key key = order_.begin()->key;
  order_.erase(order_.begin());
  due_.erase(key);
  in_flight_.insert(key);
  return key;
}

template <typename Key>
void Queue<Key>::done(const Key& key) {
  CHECK(in_flight_.erase(key) == 1);
  auto asked = later_.find(key);
  if (asked == later_.end()) return;
  Time at = asked->second;
  later_.erase(asked);
  insert(key, at);
}

template <typename Key>
Time Queue<Key>::back_off(const Key& key, Time now) {
  int doublings = std::min(failures_[key]++, 30);
  Duration pause = std::min(kBackOffMax, kBackOffFirst * (int64_t{1} << doublings));
  return now + pause;
}

template <typename Key>
void Queue<Key>::forget(const Key& key) {
  failures_.erase(key);
  later_.erase(key);
  auto found = due_.find(key);
  if (found == due_.end()) return;
  order_.erase(found->second);
  due_.erase(found);
}

template <typename Key>
std::optional<Time> Queue<Key>::next() const {
  if (order_.empty()) return std::nullopt;
  return order_.begin()->due;
}

}  // namespace trainyard::control
