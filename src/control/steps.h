// Steps: a controller that does no waiting of its own (the operator, the scheduler), as a
// loop sees it. Streams of objects go in, one thing at a time is done, and it says when it
// wants to be woken. Used by one thread.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/client.h"
#include "kube/request.h"

namespace trainyard::control {

// A list or watch that a stream wants sent.
struct StreamRequest {
  int stream = 0;
  kube::Request request;
};

class Steps {
 public:
  virtual ~Steps() = default;
  // Each wanted request once. A list must be answered; a request for a stream whose watch
  // is still open takes its place, so that watch may be closed.
  virtual std::vector<StreamRequest> requests(Time now) = 0;
  virtual void on_list(int stream, const Result<client::Reply>& reply, Time now) = 0;
  // The server has agreed to the watch of the stream: it is heard again.
  virtual void on_opened(int) {}
  virtual void on_event(int stream, const client::WatchEvent& event, Time now) = 0;
  virtual void on_closed(int stream, const std::optional<Error>& error, Time now) = 0;
  // Does one thing that is due; false when nothing is.
  virtual bool step(Time now) = 0;
  // When there will be something to do or to ask, if nothing comes in; nullopt: never.
  virtual std::optional<Time> next_wake() const = 0;
  // How to rouse whoever drives it, from any thread, when work that was given away is done.
  // Told before anything else; nullptr: nobody is to be roused any more.
  virtual void set_waker(const std::function<void()>&) {}
};

}  // namespace trainyard::control
