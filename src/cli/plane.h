// Plane: the embedded control plane in this process: the hub, the operator, the scheduler, the
// node and, when asked for, the server, each on threads of its own. The one place that
// knows all of them.
//
// Resource. A process that dies leaves its replicas running; the next plane with the same
// data folder adopts them. stop() ends them or leaves them, as it is told.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"
#include "cli/data_dir.h"
#include "cli/run_view.h"
#include "client/client.h"
#include "client/watch_source.h"
#include "server/pod_access.h"
#include "server/registry.h"

namespace trainyard::cli {

struct PlaneOptions {
  DataDir dir;
  std::filesystem::path volumes;  // of claims
  std::filesystem::path images;
  PlaneSettings settings;
  bool overcommit_cpu = false;
  // The server; without it nobody outside this process can reach the plane.
  bool serve = false;
  std::string address = "127.0.0.1";
  int port = 0;
  // Why sandboxes are out of the question, if that is known already.
  std::optional<Error> no_sandbox;
  std::string no_limits;  // why a user's sandboxes have none, likewise
  // Told what a person should know; on any thread.
  std::function<void(const std::string& text)> say;
};

class Plane {
 public:
  static Result<std::unique_ptr<Plane>> start(PlaneOptions options);
  virtual ~Plane() = default;

  virtual client::Client& client() = 0;
  virtual server::PodAccess& pods() = 0;
  virtual const server::Registry& registry() const = 0;
  virtual std::string_view runtime() const = 0;  // "sandbox", "process"
  virtual std::string url() const = 0;           // of the server; "" without one
  // By pod uid, of the pods that run.
  virtual std::map<std::string, PodUsage> usage(const std::vector<std::string>& pod_uids) = 0;
  // Folders of this machine that the pod's containers write to: emptyDirs, claims.
  virtual std::vector<std::filesystem::path> writable_folders(const json::object& pod) = 0;
  // What of this pod the runtime will not honour, in words.
  virtual std::vector<std::string> cannot_honour(const json::object& pod) = 0;
  // Whether containers of this image run on it; otherwise they run on the host's own root.
  virtual bool runs_on_image(const std::string& image) = 0;
  // Brings the image unless it is here.
  virtual Result<Done> bring_image(const std::string& image) = 0;
  // Why the plane cannot go on (a disk that failed); nullopt while all is well.
  virtual std::optional<std::string> failed() const = 0;

  // Ends every thread. Replicas are stopped with their grace, killed at once, or left.
  enum class Leave { kStopped, kKilled, kRunning };
  virtual void stop(Leave leave) = 0;
};

// The time it is.
Time wall_clock();
// How long this machine has been up, asleep or not: nobody can set it.
Duration uptime();

}  // namespace trainyard::cli
