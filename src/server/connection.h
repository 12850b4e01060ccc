// Connection: one client from the handshake to the end. Internal to the server: includes
// Asio, so only the transport's own files may include it. All of it runs on one strand.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>

#include "server/handler.h"
#include "server/server.h"

namespace trainyard::server {

// A connection as the server sees it.
class LiveConnection {
 public:
  virtual ~LiveConnection() = default;
  // Ends what goes on and closes; thread-safe, returns at once.
  virtual void stop() = 0;
};

// Serves the client until it leaves, then calls `done` on some thread. REQUIRES: the socket's
// executor is a strand; the context and the handler live until `done`.
std::shared_ptr<LiveConnection> serve(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context& tls,
                                      Handler& handler, const ServerLimits& limits,
                                      std::function<void()> done);

}  // namespace trainyard::server
