// HubClient and HubWatches: the ports of the client room with a hub behind them, for
// whoever lives in the hub's process. Thread-safe; both borrow the hub, which outlives them.
#pragma once

#include <memory>

#include "client/client.h"
#include "client/watch_source.h"
#include "hub/hub.h"

namespace trainyard::hub {

// A watch is opened with HubWatches; sent, it is refused. Not on the hub's own thread. What programs said
// may be any bytes: of what is written, those that are no UTF-8 are replaced, as nobody could read it again.
class HubClient final : public client::Client {
 public:
  explicit HubClient(Hub& hub) : hub_(hub) {}
  Result<client::Reply> send(kube::Request request) override;

 private:
  Hub& hub_;
};

class HubWatches final : public client::WatchSource {
 public:
  explicit HubWatches(Hub& hub) : hub_(hub) {}
  std::unique_ptr<client::OpenWatch> open(const kube::Request& request, client::WatchSink sink) override;

 private:
  Hub& hub_;
};

}  // namespace trainyard::hub
