// Handler: from a request that was read to what is said to it. Everything of the API below
// HTTP's own business: the gate, the pages, the resources. Thread-safe; knows no sockets.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hub/hub.h"
#include "server/body.h"
#include "server/call.h"
#include "server/counters.h"
#include "server/gate.h"
#include "server/line_cache.h"
#include "server/node_metrics.h"
#include "server/objects.h"
#include "server/pages.h"
#include "server/pod_access.h"
#include "server/pod_calls.h"
#include "server/proxy_calls.h"
#include "server/room.h"
#include "server/subresources.h"

namespace trainyard::server {

struct HandlerOptions {
  std::string token;               // REQUIRES: not empty
  std::vector<std::string> names;  // by which requests may call us
  std::string git_version = "v1.33.0-trainyard";
  std::string node_name = "trainyard";
  int64_t in_flight_max = 400;          // requests that are being answered, streams not counted
  size_t bodies_bytes_max = 32 << 20;   // of large requests that are being read or answered
  size_t unsent_bytes_max = 128 << 20;  // of large answers and events that are being sent
  std::function<Time()> clock;          // REQUIRES: set
  // Where answers are made that may take long; at once when not set.
  Run run;
};

class Handler {
 public:
  // The hub, the registry and the pods outlive it. `pods` may be null: there is no node.
  Handler(HandlerOptions options, hub::Hub& hub, Registry& registry, PodAccess* pods);

  // Whether we know who sends it.
  bool knows(const HttpRequest& request) const;

  // Before a large body is read: who sends it, and whether there is room for it. The share is to be kept
  // until the request is answered.
  OrStatus<Room::Share> admit_body(const HttpRequest& head, size_t bytes);

  // `respond` is called once, perhaps before this returns; most answers are made in `run`, at
  // once when it is not set. REQUIRES: every answer has come before the handler goes.
  void handle(HttpRequest request, Respond respond, Run run = {});

  Counters& counters() { return counters_; }

 private:
  void admit(const CallRef& call, const Route& route);
  // Takes room for an answer; where there is none the answer says so.
  void hold(const std::string& method, Outcome& outcome);
  void handle_resource(const CallRef& call);
  void review(const CallRef& call);

  // Fixed.
  HandlerOptions options_;
  Registry& registry_;
  Gate gate_;
  // State.
  Room bodies_;
  Room unsent_;
  LineCache lines_;
  Counters counters_;
  Pages pages_;
  Objects objects_;
  Subresources subresources_;
  PodCalls pod_calls_;
  ProxyCalls proxy_calls_;
  NodeMetrics node_metrics_;
};

}  // namespace trainyard::server
