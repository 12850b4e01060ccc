// Port-forward as the official Python client speaks it: for the port at place i of `ports`,
// channel 2i carries its bytes and channel 2i+1 what went wrong; each channel begins with the
// port's number in two bytes, low one first.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace trainyard::server {

class Tunnel;

// Told, on any thread, of a connected, non-blocking socket.
using Connected = std::function<void(Result<Fd> socket)>;
// Makes one to a port of the pod; returns at once.
using Connect = std::function<void(int port, Connected connected)>;

std::shared_ptr<Tunnel> forward_tunnel(Connect connect, std::vector<int> ports);

}  // namespace trainyard::server
