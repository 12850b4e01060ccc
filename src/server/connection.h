// Connection: one client from the handshake to the end. Internal to the server: includes
// Asio, so only the transport's own files may include it. All of it runs on one thread.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>

#include "server/handler.h"
#include "server/server.h"
#include "transport/tls_stream.h"

namespace trainyard::server {

using transport::Io;
using transport::Socket;
using transport::TlsStream;

// A connection as the server sees it.
class LiveConnection {
 public:
  virtual ~LiveConnection() = default;
  // Ends what goes on and closes; thread-safe, returns at once.
  virtual void stop() = 0;
  // Whether the client has shown who it is. Thread-safe.
  virtual bool is_known() const = 0;
  // Closes, whatever goes on: a stranger has to make room. Thread-safe, returns at once.
  virtual void cut() = 0;
};

// Serves the client until it leaves, then calls `done` on some thread. REQUIRES: the socket's
// executor is run by one thread; the context and the handler live until `done`.
std::shared_ptr<LiveConnection> serve(Socket socket, boost::asio::ssl::context& tls, Handler& handler,
                                      const ServerLimits& limits, std::function<void()> done);

}  // namespace trainyard::server
