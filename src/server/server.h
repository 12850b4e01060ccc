// Server: the API over HTTP/1.1 and TLS on one port. Resource; its threads are its own.
//
// Loopback unless told otherwise. Every limit is in ServerLimits: what is over it gets a
// Status where one can still be sent, and a closed connection where not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "hub/hub.h"
#include "server/pod_access.h"
#include "server/registry.h"
#include "server/tls_files.h"

namespace trainyard::server {

struct ServerLimits {
  int64_t connections_max = 512;  // then who has not shown who it is makes room for who comes
  int64_t in_flight_max = 400;
  // What of large bodies is kept, all connections together: of requests until they are answered, of
  // answers and events until they are sent.
  size_t bodies_bytes_max = 32 << 20;
  size_t unsent_bytes_max = 128 << 20;
  Duration handshake{10'000};
  Duration idle{300'000};     // between two requests
  Duration stranger{10'000};  // for who has not shown who it is
  Duration header{10'000};    // from the first byte to the end of the header
  Duration body{60'000};
  Duration write{30'000};  // one answer, or one chunk of a stream
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0: any that is free
  TlsFiles tls;
  std::vector<std::string> more_names;  // by which it may be called, besides own_names()
  std::string git_version = "v1.33.0-trainyard";
  std::string node_name = "trainyard";
  std::function<Time()> clock;  // REQUIRES: set
  int threads = 2;
  ServerLimits limits;
};

class Server {
 public:
  // The hub, the registry and the pods outlive it; `pods` may be null. From here on the
  // registry follows the CustomResourceDefinitions in the hub. kUnavailable when the port
  // cannot be had, kInvalid when the certificates or the address are no good.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, hub::Hub& hub, Registry& registry,
                                               PodAccess* pods);
  virtual ~Server() = default;  // stops it

  virtual uint16_t port() const = 0;
  // "https://127.0.0.1:6443".
  virtual std::string url() const = 0;
  // Ends watches and tunnels, answers what is under way, closes everything. Returns when
  // nothing of it runs any more. More than once is allowed.
  virtual void stop() = 0;
};

}  // namespace trainyard::server
