// Tunnel: what an agreed WebSocket is for: the messages of one client, and on the other
// side the descriptors of a container. All calls to a Tunnel come on one thread, so does
// what its descriptors tell; a TunnelPeer is called on that thread alone.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace trainyard::server {

// Above this a producer stops and goes on when Tunnel::on_drained is called.
inline constexpr size_t kTunnelBacklogMax = 256 * 1024;
// A message of the client that is larger is told in pieces of about this size.
inline constexpr size_t kTunnelPieceBytes = 64 * 1024;

// What a tunnel says to its client.
class TunnelPeer {
 public:
  virtual ~TunnelPeer() = default;
  virtual void send(std::string message) = 0;
  virtual size_t backlog() const = 0;  // bytes that wait to be sent
  // Takes no more messages until resume(): the container is slow.
  virtual void pause() = 0;
  virtual void resume() = 0;
  // A normal close, after what was sent.
  virtual void close() = 0;
};

class Tunnel {
 public:
  virtual ~Tunnel() = default;
  // `executor` is that thread's. The peer outlives the tunnel's last call to it: nothing is
  // called after stop().
  virtual void start(TunnelPeer& peer, boost::asio::any_io_executor executor) = 0;
  // A message, or a piece of one; `begins`: the first.
  virtual void on_message(std::string_view bytes, bool begins) = 0;
  virtual void on_drained() = 0;
  // The client is gone or is leaving: everything is released.
  virtual void stop() = 0;
};

}  // namespace trainyard::server
