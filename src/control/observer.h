// Observer: what an operator tells about its own work while it works: for logs, metrics and
// health. Every call comes on the operator's thread and must not block.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "client/watcher.h"
#include "control/key.h"

namespace trainyard::control {

struct Pass;

enum class StreamState {
  kStarting,  // not yet listed
  kFine,
  kAbsent,   // the server does not know the resource: nothing of it is there, and we wait
  kRefused,  // we may not list or watch it
  kFailing,  // it will be tried again
};

struct StreamHealth {
  StreamState state = StreamState::kStarting;
  std::string why;  // of what is not fine

  bool operator==(const StreamHealth&) const = default;
};

class Observer {
 public:
  virtual ~Observer() = default;
  // A pass is over: how long it had been due before it began, and how long it took.
  virtual void passed(const JobKey& key, const Pass& pass, Duration queued, Duration took) = 0;
  virtual void leads(bool leads) = 0;
  // Why the lease can be neither read nor written, or that it can again.
  virtual void lease_trouble(const std::optional<Error>& why) = 0;
  virtual void stream_is(int stream, const client::Stream& what, const StreamHealth& health) = 0;
  // A watch has shown what we wrote that long ago.
  virtual void shown(Duration lag) = 0;
};

}  // namespace trainyard::control
