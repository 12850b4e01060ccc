// Port-forward as kubectl speaks it: SPDY/3.1 as a stream of bytes in WebSocket messages. For
// each connection the client opens two streams, "error" and "data", that carry the same
// requestID and the port.
#pragma once

#include <memory>

#include "server/forward_tunnel.h"

namespace trainyard::server {

std::shared_ptr<Tunnel> spdy_tunnel(Connect connect);

}  // namespace trainyard::server
