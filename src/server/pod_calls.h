// Requests to a running pod: its log, a command in it, a connection to its ports. Thread-safe.
#pragma once

#include "server/objects.h"
#include "server/pod_access.h"

namespace trainyard::server {

class PodCalls {
 public:
  PodCalls(Objects& objects, PodAccess* pods) : objects_(objects), pods_(pods) {}

  // False: the call is not for a running pod.
  bool handle(const CallRef& call);

 private:
  void log(const CallRef& call);
  void exec(const CallRef& call, bool attach);
  void port_forward(const CallRef& call);

  Objects& objects_;
  PodAccess* pods_;
};

}  // namespace trainyard::server
