// WatchSource: the port that opens watches: the half of a client that talks on its own
// accord. Bodies: a hub in this process, a server over HTTP.
//
// Events come in order, on a thread of the body's own; a sink must not block. Exactly one
// on_closed ends a watch that the holder did not drop; after the handle is dropped nothing
// is called any more (dropping waits for a call that is under way).
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "client/client.h"
#include "kube/request.h"

namespace trainyard::client {

struct WatchSink {
  std::function<void(WatchEvent event)> on_event;
  std::function<void(const std::optional<Error>& error)> on_closed;  // nullopt: the server ended it
  std::function<void()> on_opened;                                   // the server has agreed; may be empty
};

class OpenWatch {
 public:
  virtual ~OpenWatch() = default;
};

class WatchSource {
 public:
  virtual ~WatchSource() = default;
  // REQUIRES: the verb is a Watch. A failure to connect is told to on_closed as well.
  virtual std::unique_ptr<OpenWatch> open(const kube::Request& request, WatchSink sink) = 0;
};

}  // namespace trainyard::client
