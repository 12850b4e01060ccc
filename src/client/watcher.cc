#include "client/watcher.h"

#include "kube/meta.h"

namespace trainyard::client {

std::optional<kube::Request> Watcher::ask(Time now) {
  if (!wants(now)) return std::nullopt;
  asked_ = true;
  asked_at_ = now;
  stale_ = false;
  if (state_ == State::kWatching) {
    kube::Watch watch;
    watch.labels = stream_.labels;
    watch.fields = stream_.fields;
    watch.version = std::to_string(version_);
    heard_ = false;
    return kube::Request{stream_.resource, stream_.ns, std::move(watch), {}, stream_.heed};
  }
  state_ = State::kListing;
  kube::List list;
  list.labels = stream_.labels;
  list.fields = stream_.fields;
  list.limit = stream_.page_max;
  list.continue_token = continue_token_;
  return kube::Request{stream_.resource, stream_.ns, std::move(list), {}, stream_.heed};
}

std::optional<Time> Watcher::next_ask() const {
  if (asked_) return std::nullopt;
  return not_before_;
}

void Watcher::ask_again_after(Duration pause, Time now) {
  rest_ = pause;
  not_before_ = now + pause;
}

void Watcher::retry_later(Time now) {
  pause_ = std::clamp(pause_ * 2, kRetryFirst, kRetryMax);
  ask_again_after(pause_, now);
}

void Watcher::start_over() {
  state_ = State::kEmpty;
  continue_token_.clear();
}

std::vector<Output> Watcher::on_list(const Result<Reply>& reply, Time now) {
  CHECK(asked_);
  asked_ = false;
  if (stale_) {
    start_over();
    return {};
  }
  absent_ = !reply.ok() && reply.error().kind == ErrorKind::kNotFound;
  trouble_.reset();
  if (!reply.ok()) {
    start_over();
    trouble_ = reply.error();
    if (!absent_) {
      retry_later(now);
      return {};
    }
    // The server has no such resource (yet): there are no objects of it.
    absent_pause_ = std::clamp(absent_pause_ * 2, kAbsentRetry, kAbsentRetryMax);
    ask_again_after(absent_pause_, now);
    return {Init{}, InitDone{0}};
  }
  absent_pause_ = Duration{0};
  std::vector<Output> outputs;
  if (continue_token_.empty()) {
    list_revision_ = reply->revision;
    outputs.emplace_back(Init{});
  }
  for (const Object& object : reply->items) outputs.emplace_back(Apply{kept(object)});
  continue_token_ = reply->continue_token;
  if (!continue_token_.empty()) return outputs;
  outputs.emplace_back(InitDone{list_revision_});
  version_ = list_revision_;
  state_ = State::kWatching;
  pause_ = Duration{0};
  return outputs;
}

void Watcher::on_opened() {
  if (asked_ && state_ == State::kWatching) trouble_.reset();
}

std::vector<Output> Watcher::on_event(const WatchEvent& event, Time) {
  if (state_ != State::kWatching) return {};
  pause_ = Duration{0};
  heard_ = true;
  trouble_.reset();
  version_ = std::max(version_, kube::version_of(*event.object));
  switch (event.kind) {
    case EventKind::kAdded:
    case EventKind::kModified:
      return {Apply{kept(event.object)}};
    case EventKind::kDeleted:
      return {Delete{kept(event.object)}};
    case EventKind::kBookmark:
      return {Seen{kube::version_of(*event.object)}};
  }
  return {};
}

void Watcher::on_closed(const std::optional<Error>& error, Time now) {
  // The end of a watch that was given up already.
  if (!asked_ || state_ != State::kWatching) return;
  asked_ = false;
  // Where nothing happens every watch ends unheard, after minutes: that is no reason to wait ever longer.
  if (now >= asked_at_ + kRetryMax) {
    heard_ = true;
    pause_ = Duration{0};
  }
  // A watch that ends as soon as it is opened must not be opened without a pause.
  bool pauses = !heard_;
  if (error) {
    if (error->kind != ErrorKind::kGone) trouble_ = error;
    bool may_go_on = error->kind == ErrorKind::kUnavailable || error->kind == ErrorKind::kUnknown;
    if (!may_go_on) start_over();
    pauses = error->kind != ErrorKind::kGone;
  }
  if (pauses) retry_later(now);
}

void Watcher::relist(Time now) {
  not_before_ = std::min(not_before_, now);
  if (asked_ && state_ == State::kListing) {
    stale_ = true;
    return;
  }
  asked_ = false;
  start_over();
}

}  // namespace trainyard::client
