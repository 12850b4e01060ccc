#include "cli/verbs_follow.h"

#include <algorithm>

namespace trainyard::cli {
namespace {

constexpr Duration kPatienceMax{60'000};

}  // namespace

void Inbox::post(std::function<void()> work) {
  std::scoped_lock lock(mutex_);
  work_.push_back(std::move(work));
  filled_.notify_one();
}

bool Inbox::run_one(Duration patience) {
  std::function<void()> work;
  {
    std::unique_lock lock(mutex_);
    if (!filled_.wait_for(lock, patience, [&] { return !work_.empty(); })) return false;
    work = std::move(work_.front());
    work_.pop_front();
  }
  work();
  return true;
}

Follow::Follow(const Cluster& cluster, std::vector<client::Stream> streams) : cluster_(cluster) {
  for (client::Stream& stream : streams) followed_.push_back(std::make_unique<Followed>(std::move(stream)));
}

void Follow::take(Followed& followed, const std::vector<client::Output>& outputs) {
  for (const client::Output& output : outputs) {
    if (!followed.cache.apply(output, cluster_.clock()).empty()) changed_ = true;
  }
}

Result<Done> Follow::ask(Followed& followed) {
  while (std::optional<kube::Request> request = followed.watcher.ask(cluster_.clock())) {
    int turn = ++followed.turn;
    followed.watch.reset();
    if (std::holds_alternative<kube::List>(request->verb)) {
      Result<client::Reply> reply = cluster_.client.send(*request);
      bool absent = !reply.ok() && reply.error().kind == ErrorKind::kNotFound;
      if (!reply.ok() && !absent && !followed.cache.synced()) return reply.error();
      bool first = !followed.cache.synced();
      take(followed, followed.watcher.on_list(reply, cluster_.clock()));
      if (first && followed.cache.synced()) changed_ = true;
      continue;
    }
    Followed* self = &followed;
    followed.watch =
        cluster_.watches.open(*request, {[this, self, turn](client::WatchEvent event) {
                                           inbox_.post([this, self, turn, event = std::move(event)] {
                                             if (self->turn == turn)
                                               take(*self, self->watcher.on_event(event, cluster_.clock()));
                                           });
                                         },
                                         [this, self, turn](const std::optional<Error>& error) {
                                           inbox_.post([this, self, turn, error] {
                                             if (self->turn == turn)
                                               self->watcher.on_closed(error, cluster_.clock());
                                           });
                                         }});
  }
  return Done{};
}

Duration Follow::patience(std::optional<Time> until) const {
  Time now = cluster_.clock();
  Duration longest = kPatienceMax;
  if (until) longest = std::min(longest, *until - now);
  for (const std::unique_ptr<Followed>& followed : followed_) {
    if (std::optional<Time> at = followed->watcher.next_ask()) longest = std::min(longest, *at - now);
  }
  return std::max(longest, Duration{0});
}

Result<bool> Follow::next(std::optional<Time> until) {
  while (true) {
    for (std::unique_ptr<Followed>& followed : followed_) {
      if (Result<Done> asked = ask(*followed); !asked.ok()) return asked.error();
    }
    bool synced = std::all_of(followed_.begin(), followed_.end(),
                              [](const std::unique_ptr<Followed>& f) { return f->cache.synced(); });
    if (synced && changed_) {
      // What came together is shown together.
      while (inbox_.run_one(Duration{0})) {
      }
      changed_ = false;
      return true;
    }
    if (until && cluster_.clock() >= *until) return false;
    inbox_.run_one(patience(until));
  }
}

}  // namespace trainyard::cli
