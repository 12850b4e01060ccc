// The values between the transport and whoever answers: a request that was read whole, and
// what is said to it: an answer, a stream that goes on (a watch, a log), or an agreement to
// talk WebSocket (exec, port-forward). No sockets here, so answers are tested without any.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"

namespace trainyard::server {

inline constexpr size_t kBodyBytesMax = 3 * 1024 * 1024;  // what an API server takes
inline constexpr size_t kHeaderBytesMax = 64 * 1024;
inline constexpr size_t kStreamChunkBytes = 64 * 1024;  // about what one pull gives
// What is larger takes room (room.h) while it is kept for a client: to read it, or to send it.
inline constexpr size_t kFreeOfRoomBytes = 64 * 1024;

struct Header {
  std::string name;
  std::string value;
  bool operator==(const Header&) const = default;
};

struct HttpRequest {
  std::string method;  // "GET"
  std::string target;  // path and query as they came
  std::vector<Header> headers;
  std::string body;
  bool client_certificate = false;  // one that our own CA signed was shown
  bool websocket = false;           // asks to become a WebSocket

  // The first of that name, in any case; "" when there is none.
  std::string_view header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<Header> headers;
  std::string body;
  std::shared_ptr<const void> held;  // the room that a large body takes until it is sent
};

// Bytes that several may be sending.
using SharedText = std::shared_ptr<const std::string>;

// Bytes that come over time. Thread-safe; dropping it ends whatever feeds it.
class Stream {
 public:
  enum class State {
    kOpen,    // more may come
    kEnded,   // that was all
    kBroken,  // cut off: the reader was too slow, or the source failed
  };
  virtual ~Stream() = default;
  // What there is, about kStreamChunkBytes at most unless one thing alone is larger; null, or
  // nothing, when there is nothing now.
  virtual State pull(SharedText& out) = 0;
  // `wake` is called, on any thread and perhaps more than once, when a pull that gave
  // nothing may give something now.
  virtual void on_ready(std::function<void()> wake) = 0;
  // How often to pull anyway; 0: `wake` tells.
  virtual Duration poll_every() const { return Duration{0}; }
};

struct StreamResponse {
  std::string content_type = "application/json";
  std::shared_ptr<Stream> stream;
  std::optional<Duration> lifetime;  // ends it properly after this long
};

class Tunnel;  // tunnel.h

struct UpgradeResponse {
  std::string subprotocol;
  std::shared_ptr<Tunnel> tunnel;
};

using Outcome = std::variant<HttpResponse, StreamResponse, UpgradeResponse>;
using Respond = std::function<void(Outcome)>;
// Carries a step out somewhere; it may do so at once.
using Run = std::function<void(std::function<void()>)>;

}  // namespace trainyard::server
