// PodAccess: what the server needs of whoever runs the pods: their logs, a command inside
// one, a connection to a port. A port; its body is wired by the command line, so the
// server never sees a runtime. Thread-safe; calls return soon.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/json.h"

namespace trainyard::server {

struct PodRef {
  std::string ns;
  std::string name;
  std::string uid;
  std::string container;  // REQUIRES: one that the pod has
};

struct LogQuery {
  bool follow = false;
  bool previous = false;
  // This run of the container (0 is the first), wherever it is now; no API asks for it.
  std::optional<int> attempt;
  bool timestamps = false;
  std::optional<int64_t> tail_lines;
  std::optional<int64_t> limit_bytes;
  std::optional<Time> since;
};

// A log as a pull stream.
class LogReader {
 public:
  virtual ~LogReader() = default;
  // Appends what there is now, at most about 64 KiB. False: the end; true with nothing
  // appended: ask again in a while (only when following).
  virtual Result<bool> read(std::string& out) = 0;
};

struct ExecQuery {
  std::vector<std::string> command;  // empty: attach to the container's own process
  bool in = false;
  bool out = true;
  bool err = true;
  bool tty = false;
};

// A command that runs inside a container. With a tty `in` and `out` are its two ends and
// there is no `err`. Descriptors are non-blocking. Dropping the session kills the command.
class ExecSession {
 public:
  virtual ~ExecSession() = default;
  Fd in;
  Fd out;
  Fd err;
  virtual void resize(int columns, int rows) = 0;
  // Called once, on some thread, with the exit code (128 + signal) or why it could not run.
  virtual void on_exit(std::function<void(Result<int>)> told) = 0;
};

struct Usage {
  int64_t cpu_nanocores = 0;
  int64_t memory_bytes = 0;
};
struct ContainerUsage {
  std::string container;
  Usage usage;
};

class PodAccess {
 public:
  virtual ~PodAccess() = default;
  virtual Result<std::unique_ptr<LogReader>> logs(const PodRef& pod, const LogQuery& query) = 0;
  virtual Result<std::unique_ptr<ExecSession>> exec(const PodRef& pod, const ExecQuery& query) = 0;
  // A connected, non-blocking stream socket to the port inside the pod.
  virtual Result<Fd> connect(const PodRef& pod, int port) = 0;
  // What each running container uses now; empty when nothing is known of the pod.
  virtual std::vector<ContainerUsage> usage(const std::string& pod_uid) = 0;
  virtual Usage node_usage() = 0;
};

}  // namespace trainyard::server
