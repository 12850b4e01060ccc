// PodPort: what a server offers beyond objects, by path: streams of bytes (logs), small
// documents (usage), commands inside a pod. A port with an HTTP body (http_client.h) and
// fakes in tests. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "client/watch_source.h"

namespace trainyard::client {

// As a WatchSink, of bytes: called in order on a thread of the body's own, must not block.
struct ByteSink {
  std::function<void(std::string_view bytes)> on_bytes;
  std::function<void(const std::optional<Error>& error)> on_closed;  // nullopt: the end
};

// The ends of a command that runs in a pod.
struct ExecIo {
  int in = -1;                              // a descriptor read to its end; -1 for none
  bool tty = false;                         // then there is no err
  std::optional<std::pair<int, int>> size;  // columns and rows of the terminal
  std::function<void(std::string_view bytes)> out;
  std::function<void(std::string_view bytes)> err;
};

class PodPort {
 public:
  virtual ~PodPort() = default;
  // Dropping the handle ends the stream; a failure to connect is told to on_closed too.
  virtual std::unique_ptr<OpenWatch> open_stream(const std::string& path, ByteSink sink) = 0;
  // The whole answer; an answer that is no success is an error.
  virtual Result<std::string> read(const std::string& path) = 0;
  // Runs what the path (with its query) says, to its end: the exit code.
  virtual Result<int> exec(const std::string& path, ExecIo io) = 0;
};

}  // namespace trainyard::client
