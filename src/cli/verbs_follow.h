// Follow: keeps what a verb looks at up to date while it waits: a list, then a watch, with
// everything that may go wrong on the way (see client/watcher.h). Resource; one thread, the
// verb's own: watches and log streams hand what they hear to its inbox.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/connect.h"
#include "client/cache.h"
#include "client/watcher.h"

namespace trainyard::cli {

// Work handed to one thread by others. Thread-safe.
class Inbox {
 public:
  void post(std::function<void()> work);
  // Carries out one piece of work, waiting for it at most this long. False: none came.
  bool run_one(Duration patience);

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<std::function<void()>> work_;
};

class Follow {
 public:
  Follow(const Cluster& cluster, std::vector<client::Stream> streams);

  // Until an object has changed (true) or `until` has come (false). The first success shows
  // every stream whole. An error: a stream could not be listed even once.
  Result<bool> next(std::optional<Time> until);
  const client::Cache& cache(size_t stream) const { return followed_[stream]->cache; }
  Inbox& inbox() { return inbox_; }
  // next() returns as if something had changed. From work in the inbox.
  void wake() { changed_ = true; }

 private:
  struct Followed {
    explicit Followed(client::Stream stream) : watcher(std::move(stream)) {}
    client::Watcher watcher;
    client::Cache cache;
    int turn = 0;  // of watches opened: what an older one still tells is ignored
    std::unique_ptr<client::OpenWatch> watch;
  };
  Result<Done> ask(Followed& followed);
  void take(Followed& followed, const std::vector<client::Output>& outputs);
  Duration patience(std::optional<Time> until) const;

  // Fixed.
  const Cluster& cluster_;
  // State.
  Inbox inbox_;
  bool changed_ = false;
  std::vector<std::unique_ptr<Followed>> followed_;  // last: its watches post to the inbox
};

}  // namespace trainyard::cli
