// The WebSocket that a connection becomes for exec, attach and port-forward. Internal to the
// transport: includes Beast.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>

#include "server/http.h"
#include "transport/tls_stream.h"

namespace trainyard::server {

using transport::Awaitable;
using transport::kTuple;
using transport::TlsStream;
using BeastRequest = boost::beast::http::request<boost::beast::http::string_body>;

class WebSocketSession {
 public:
  virtual ~WebSocketSession() = default;
  // Agrees to the upgrade and carries messages until one side ends. On the stream's thread.
  virtual Awaitable<void> run(BeastRequest request) = 0;
  // Closes soon; on the stream's thread.
  virtual void stop() = 0;
};

std::shared_ptr<WebSocketSession> websocket_session(TlsStream stream, UpgradeResponse upgrade);

}  // namespace trainyard::server
