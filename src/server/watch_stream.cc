#include "server/watch_stream.h"

#include <deque>
#include <mutex>

#include "server/call.h"
#include "server/status.h"

namespace trainyard::server {
namespace {

// What the hub's thread and the connection's share.
class Inbox {
 public:
  void put(const std::vector<hub::WatchEvent>& events) {
    {
      std::lock_guard lock(mutex_);
      if (over_) return;
      if (!begun_) allowed_ += events.size();
      begun_ = true;
      events_.insert(events_.end(), events.begin(), events.end());
      for (const hub::WatchEvent& event : events) bytes_ += event.bytes;
      if (events_.size() > allowed_ || (bytes_ > kWatchBacklogBytesMax && events_.size() > 1)) {
        events_.clear();
        overflowed_ = over_ = true;
      }
    }
    tell();
  }
  void close(const std::optional<Error>& error) {
    {
      std::lock_guard lock(mutex_);
      error_ = error;
      over_ = true;
    }
    tell();
  }
  void on_ready(std::function<void()> wake) {
    std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }
  // What the stream must do next.
  struct Next {
    std::optional<hub::WatchEvent> event;
    std::optional<Error> error;
    bool over = false;
    bool overflowed = false;
  };
  Next next() {
    std::lock_guard lock(mutex_);
    Next out;
    if (!events_.empty()) {
      out.event = std::move(events_.front());
      events_.pop_front();
      bytes_ -= out.event->bytes;
      return out;
    }
    out.over = over_;
    out.overflowed = overflowed_;
    out.error = std::exchange(error_, std::nullopt);
    return out;
  }

 private:
  void tell() {
    std::function<void()> wake;
    {
      std::lock_guard lock(mutex_);
      wake = wake_;
    }
    if (wake) wake();
  }

  std::mutex mutex_;
  std::deque<hub::WatchEvent> events_;
  size_t allowed_ = kWatchBacklogMax;
  size_t bytes_ = 0;  // of the events
  bool begun_ = false;
  bool over_ = false;
  bool overflowed_ = false;
  std::optional<Error> error_;
  std::function<void()> wake_;
};

class WatchStream final : public Stream {
 public:
  WatchStream(std::shared_ptr<Inbox> inbox, std::unique_ptr<hub::Subscription> subscription, LineCache& lines,
              WatchView view)
      : inbox_(std::move(inbox)),
        subscription_(std::move(subscription)),
        lines_(lines),
        view_(std::move(view)) {}
  ~WatchStream() override { inbox_->on_ready({}); }

  State pull(SharedText& out) override {
    State state = State::kOpen;
    auto text = std::make_shared<std::string>();
    if (large_ == nullptr) state = fill(*text);
    out = text->empty() ? std::exchange(large_, nullptr) : SharedText(std::move(text));
    return state;
  }
  void on_ready(std::function<void()> wake) override { inbox_->on_ready(std::move(wake)); }

 private:
  // Up to the first large event, which comes after.
  State fill(std::string& text) {
    while (text.size() < kStreamChunkBytes && large_ == nullptr) {
      Inbox::Next next = inbox_->next();
      if (next.event) {
        if (!append(*next.event, text)) return State::kBroken;
        continue;
      }
      if (next.error) text += error_line(view_, *next.error);
      if (!next.over) return State::kOpen;
      return next.overflowed ? State::kBroken : State::kEnded;
    }
    return State::kOpen;
  }

  // False when there is no room for it.
  bool append(const hub::WatchEvent& event, std::string& text) {
    const bool is_table = view_.form.shape == Shape::kTable || view_.form.shape == Shape::kTableV1Beta1;
    const LineKey key{.object = event.object.get(),
                      .api = view_.api,
                      .kind = event.kind,
                      .encoding = view_.form.encoding,
                      .shape = view_.form.shape,
                      .include = view_.include,
                      .first = first_ && is_table};
    large_ = lines_.find(key, event.object);
    if (large_ == nullptr) {
      std::string line = event_line(view_, event, first_);
      if (line.size() <= kFreeOfRoomBytes) {
        text += line;
      } else {
        large_ = lines_.keep(key, event.object, std::move(line));
        if (large_ == nullptr) return false;
      }
    }
    first_ = false;
    return true;
  }

  // Fixed.
  std::shared_ptr<Inbox> inbox_;
  std::unique_ptr<hub::Subscription> subscription_;
  LineCache& lines_;
  WatchView view_;
  // State.
  SharedText large_;  // to be given next
  bool first_ = true;
};

std::string_view type_of(store::ChangeKind kind) {
  switch (kind) {
    case store::ChangeKind::kAdded:
      return "ADDED";
    case store::ChangeKind::kModified:
      return "MODIFIED";
    case store::ChangeKind::kDeleted:
      return "DELETED";
    case store::ChangeKind::kBookmark:
      return "BOOKMARK";
  }
  return "";
}

std::string object_text(const WatchView& view, const hub::WatchEvent& event, bool first) {
  ObjectRef object = presented(*view.api, event.object);
  switch (view.form.shape) {
    case Shape::kObject:
      return json::serialize(*object);
    case Shape::kTable:
    case Shape::kTableV1Beta1: {
      ListMeta meta{.revision = kube::version_of(*object)};
      TableOptions options{.include = view.include,
                           .v1beta1 = view.form.shape == Shape::kTableV1Beta1,
                           .columns = first,
                           .now = view.clock()};
      std::vector<ObjectRef> rows;
      if (event.kind != store::ChangeKind::kBookmark) rows.push_back(object);
      return json::serialize(table_of(*view.api, rows, meta, options));
    }
    case Shape::kPartialMetadata:
    case Shape::kPartialMetadataList:
      return json::serialize(partial_metadata(*object));
  }
  return "null";
}

}  // namespace

Result<std::shared_ptr<Stream>> open_watch(hub::Hub& hub, LineCache& lines, std::string_view ns,
                                           const kube::Watch& query, WatchView view) {
  auto inbox = std::make_shared<Inbox>();
  hub::WatchSink sink{
      .on_events = [inbox](const std::vector<hub::WatchEvent>& events) { inbox->put(events); },
      .on_closed = [inbox](const std::optional<Error>& error) { inbox->close(error); },
  };
  auto subscription = hub.watch(view.api->storage, ns, query, std::move(sink));
  if (!subscription.ok()) return subscription.error();
  return std::shared_ptr<Stream>(std::make_shared<WatchStream>(
      std::move(inbox), std::move(subscription).value(), lines, std::move(view)));
}

std::string event_line(const WatchView& view, const hub::WatchEvent& event, bool first) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type_of(event.kind),
                     object_text(view, event, first));
}

std::string error_line(const WatchView& view, const Error& error) {
  Status status = status_of(error, view.api->resource, "");
  return fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", json::serialize(to_json(status)));
}

}  // namespace trainyard::server
