// Requests to a running pod: its log, a command in it, a connection to its ports. Thread-safe.
//
// The node may let them wait. That is done by a few threads of their own, apart for commands, so that
// those that hang hold up neither a log nor a request that is not for a pod; when too many wait, the
// next is refused.
#pragma once

#include "server/forward_tunnel.h"
#include "server/objects.h"
#include "server/pod_access.h"
#include "server/work_threads.h"

namespace trainyard::server {

class PodCalls {
 public:
  PodCalls(Objects& objects, PodAccess* pods);

  // False: the call is not for a running pod.
  bool handle(const CallRef& call);

 private:
  void log(const CallRef& call);
  void exec(const CallRef& call, bool attach);
  void port_forward(const CallRef& call);
  // How a tunnel comes to the ports of a pod.
  Connect connect_to(PodRef pod);

  // Fixed.
  Objects& objects_;
  PodAccess* pods_;
  // State.
  WorkThreads commands_;
  WorkThreads others_;  // logs and connections
};

}  // namespace trainyard::server
