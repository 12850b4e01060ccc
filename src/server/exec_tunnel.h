// exec and attach: a WebSocket's channels on one side, a session in a container on the other.
#pragma once

#include <memory>

#include "server/pod_access.h"
#include "server/pod_queries.h"

namespace trainyard::server {

class Tunnel;

std::shared_ptr<Tunnel> exec_tunnel(std::unique_ptr<ExecSession> session, ChannelProtocol protocol);

}  // namespace trainyard::server
