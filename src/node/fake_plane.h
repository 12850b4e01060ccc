// FakePlane: a store with a client and watches, for tests of the node. Thread-safe; a
// watch hears of a write before the write returns.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "client/in_process.h"
#include "client/watch_source.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::node::testing {

class FakePlane final : public client::Client, public client::WatchSource {
 public:
  explicit FakePlane(std::function<Time()> clock) : client_(store_, std::move(clock)) {}

  Result<client::Reply> send(kube::Request request) override {
    std::lock_guard lock(mutex_);
    if (refuse_writes_ && client::is_write(request))
      return Error{ErrorKind::kUnavailable, "the disk is full"};
    Result<client::Reply> reply = client_.send(std::move(request));
    deliver();
    return reply;
  }

  std::unique_ptr<client::OpenWatch> open(const kube::Request& request, client::WatchSink sink) override {
    std::lock_guard lock(mutex_);
    int number = ++opened_;
    watches_[number] = {request, std::move(sink)};
    deliver();
    return std::make_unique<Handle>(*this, number);
  }

  json::object get(const kube::Resource& resource, const std::string& ns, const std::string& name) {
    Result<client::Object> object = client::get(*this, resource, ns, name);
    return object.ok() ? **object : json::object{};
  }
  void refuse_writes(bool refuse) {
    std::lock_guard lock(mutex_);
    refuse_writes_ = refuse;
  }

 private:
  struct Open {
    kube::Request request;
    client::WatchSink sink;
  };
  class Handle final : public client::OpenWatch {
   public:
    Handle(FakePlane& plane, int number) : plane_(plane), number_(number) {}
    ~Handle() override {
      std::lock_guard lock(plane_.mutex_);
      plane_.watches_.erase(number_);
    }

   private:
    FakePlane& plane_;
    int number_;
  };

  void deliver() {
    for (auto& [number, open] : watches_) {
      Result<client::Reply> reply = client_.send(open.request);
      if (!reply.ok()) continue;
      for (const client::WatchEvent& event : reply->events) {
        std::get<kube::Watch>(open.request.verb).version =
            kube::text_at(*event.object, {"metadata", "resourceVersion"});
        open.sink.on_event(event);
      }
    }
  }

  std::recursive_mutex mutex_;
  store::Store store_;
  client::InProcess client_;
  std::map<int, Open> watches_;
  int opened_ = 0;
  bool refuse_writes_ = false;
};

}  // namespace trainyard::node::testing
