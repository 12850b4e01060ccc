// HttpClient: the client port over HTTP, for any Kubernetes API server: TLS, a pool of
// kept connections, watches, streams and commands in pods. Resource; thread-safe: several
// threads may send at once. One I/O thread of its own does all the waiting for the network.
//
// What an error says: kUnavailable that nothing was done (no connection, 429, 503, and any
// failure of a read), kUnknown that a write may have been done (the connection was lost
// after it was sent, or no answer came in time). Repeated by itself is only what certainly
// was not done: after 429 and 503 with a Retry-After of a few seconds, after 401 with fresh
// credentials, and a read whose kept connection had been closed meanwhile.
//
// REQUIRES: calls have returned and handles are dropped before the client goes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/client.h"
#include "client/kubeconfig.h"
#include "client/pod_port.h"
#include "client/watch_source.h"
#include "kube/request.h"

namespace trainyard::client {

struct HttpOptions {
  Duration connect_timeout{10'000};  // for each of: the connection, the proxy, TLS
  Duration request_timeout{60'000};  // for an answer, and for the head of a stream
  // A watch that has told nothing for so long ends: whoever stands between us and the server may have lost it
  // without a word. Servers tell of their progress (bookmarks) more often, wherever anything happens at all.
  Duration silence_max{600'000};
  int idle_connections_max = 16;
  Duration idle_time_max{60'000};
  int retries_max = 3;
  Duration retry_after_max{10'000};  // longer than this is the caller's to wait
  std::string user_agent = "trainyard";
  int requests_max = 64;  // under way at once; the others wait in line. Watches are not counted
  // Asked of a write when it is about to go out, at first and after each pause: who stood in line for long
  // may no longer have the right to it. False: it is not sent. On the I/O thread; must not block. Empty:
  // all are sent.
  std::function<bool(std::string_view resource)> may_write;
  // Told of every answer: the verb and resource as RBAC names them, the HTTP status (0: none
  // came) and how long it took. On the I/O thread; must not block.
  std::function<void(std::string_view verb, std::string_view resource, int status, Duration took)> on_answer;
};

struct RawRequest {
  std::string method = "GET";
  std::string path;                                          // with its query
  std::vector<std::pair<std::string, std::string>> headers;  // besides those of every request
  std::string body;
  std::string_view verb = "";  // for on_answer; "" for requests that are not of the API's objects
  std::string_view resource = "";
};

struct RawReply {
  int status = 0;
  std::string content_type;
  std::string body;
};

class HttpClient final : public Client, public WatchSource, public PodPort {
 public:
  // Nothing is sent yet. kInvalid when the access makes no sense, kForbidden when its
  // certificates cannot be read.
  static Result<std::unique_ptr<HttpClient>> make(Access access, HttpOptions options = {});
  ~HttpClient() override;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // A list without a limit is fetched in pages. A Watch is refused: see open().
  Result<Reply> send(kube::Request request) override;
  std::vector<Result<Reply>> send_all(std::vector<kube::Request> requests) override;
  int parallel_max() const override;
  std::unique_ptr<OpenWatch> open(const kube::Request& request, WatchSink sink) override;
  // Whatever the server answers, whichever its status.
  Result<RawReply> fetch(const RawRequest& request);

  std::unique_ptr<OpenWatch> open_stream(const std::string& path, ByteSink sink) override;
  Result<std::string> read(const std::string& path) override;
  Result<int> exec(const std::string& path, ExecIo io) override;

  const Access& access() const;

  struct Core;

 private:
  explicit HttpClient(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace trainyard::client
