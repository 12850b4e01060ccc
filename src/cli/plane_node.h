// PlaneNode: the node of the embedded plane with the runtime that this machine can offer,
// and what the server asks of it (logs, commands, connections). Resource.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/plane.h"
#include "client/client.h"
#include "client/watch_source.h"
#include "server/pod_access.h"

namespace trainyard::cli {

// The name of the node that this machine is.
inline constexpr std::string_view kNodeName = "trainyard";

class PlaneNode {
 public:
  // Chooses the runtime: the one asked for, or a sandbox where sandboxes work, saying why
  // when they do not. kUnavailable when the one asked for cannot be had.
  static Result<std::unique_ptr<PlaneNode>> start(const PlaneOptions& options, client::Client& client,
                                                  client::WatchSource& watches);
  virtual ~PlaneNode() = default;

  virtual server::PodAccess& access() = 0;
  virtual std::string_view runtime() const = 0;
  virtual std::vector<std::filesystem::path> writable_folders(const json::object& pod) = 0;
  virtual std::vector<std::string> cannot_honour(const json::object& pod) = 0;
  virtual bool runs_on_image(const std::string& image) = 0;
  // Brings the image unless it is here.
  virtual Result<Done> bring_image(const std::string& image) = 0;
  // More than once is allowed.
  virtual void stop(Plane::Leave leave) = 0;
};

}  // namespace trainyard::cli
