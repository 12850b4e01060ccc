// Watchers: the open watches of a hub and how far each has been told. The hub guards
// this set with its lock; the sinks are called without it.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "hub/hub.h"
#include "hub/journal.h"
#include "hub/log_sizes.h"
#include "store/store.h"

namespace trainyard::hub {

using Steady = std::chrono::steady_clock;
inline constexpr std::chrono::seconds kBookmarkEvery{60};
inline constexpr std::chrono::seconds kBookmarkBeforeEnd{2};  // of a watch that asks for an end

// One watch. `tell` and `close` are called by the hub's thread alone, `drop` by anybody.
class Watcher {
 public:
  Watcher(kube::Resource resource, std::string ns, kube::Watch query, WatchSink sink)
      : kept_(resource),
        resource_(kept_.view()),
        ns_(std::move(ns)),
        query_(std::move(query)),
        sink_(std::move(sink)) {}

  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  void tell(const std::vector<WatchEvent>& events);
  void close(const std::optional<Error>& error);
  // Waits for a call that is under way, unless it comes from there.
  void drop();
  bool is_dropped() const;

 private:
  friend class Watchers;
  friend void deliver(const struct Telling& telling, std::map<int64_t, Object>& departures);
  template <typename Call>
  void with_sink(Call call);

  // Fixed.
  const KeptResource kept_;
  const kube::Resource resource_;  // a view of kept_
  const std::string ns_;
  const kube::Watch query_;
  std::optional<Steady::time_point> last_bookmark_at_;  // before it ends
  // State of the hub's thread, guarded by the hub's lock.
  bool has_begun_ = true;  // false: the objects of revision told_ are to be told first
  int64_t told_ = 0;
  Steady::time_point bookmark_at_;
  // State of the sink.
  mutable std::recursive_mutex mutex_;
  WatchSink sink_;
  bool calling_ = false;
  bool dropped_ = false;
};

// What one watcher is to be told, in this order, collected under the hub's lock. What
// selectors make of the changes is worked out later, without.
struct Telling {
  std::shared_ptr<Watcher> watcher;
  std::vector<WatchEvent> present;
  std::vector<WatchEvent> changes;  // entries of the log
  std::optional<WatchEvent> bookmark;
  std::optional<Error> over;

  bool empty() const { return present.empty() && changes.empty() && !bookmark && !over; }
};
// How objects were last that stopped to match, by revision: one document for all that are told of it.
using Departures = std::map<int64_t, Object>;
void deliver(const Telling& telling, Departures& departures);

class Watchers {
 public:
  // Checks what can be checked at once.
  Result<std::shared_ptr<Watcher>> add(const store::Store& store, int64_t committed,
                                       const kube::Resource& resource, std::string_view ns,
                                       const kube::Watch& query, WatchSink sink, Steady::time_point now);
  // What is to be told now that everything up to `committed` is on disk.
  std::vector<Telling> take(const store::Store& store, const LogSizes& sizes, int64_t committed,
                            Steady::time_point now);
  // Whether somebody waits for the present.
  bool has_new() const { return has_new_; }
  // When take() has something to tell even if nothing changes.
  std::optional<Steady::time_point> next_bookmark() const { return next_bookmark_; }
  std::vector<std::shared_ptr<Watcher>> take_all() { return std::exchange(all_, {}); }

 private:
  static void begin(const store::Store& store, Watcher& watcher, int64_t committed, Telling& telling);
  static void go_on(const store::Store& store, const LogSizes& sizes, Watcher& watcher, int64_t committed,
                    Telling& telling);

  void expect_bookmark(Watcher& watcher, Steady::time_point now);

  std::vector<std::shared_ptr<Watcher>> all_;  // in the order they came
  bool has_new_ = false;
  std::optional<Steady::time_point> next_bookmark_;  // the first of all
};

}  // namespace trainyard::hub
