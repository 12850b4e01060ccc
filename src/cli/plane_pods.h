// NodeAccess: what the server asks of pods, answered by the node. Thread-safe, as both are.
#pragma once

#include "node/node.h"
#include "server/pod_access.h"

namespace trainyard::cli {

class NodeAccess final : public server::PodAccess {
 public:
  explicit NodeAccess(node::Node& node) : node_(node) {}

  Result<std::unique_ptr<server::LogReader>> logs(const server::PodRef& pod,
                                                  const server::LogQuery& query) override;
  Result<std::unique_ptr<server::ExecSession>> exec(const server::PodRef& pod,
                                                    const server::ExecQuery& query) override;
  Result<Fd> connect(const server::PodRef& pod, int port) override;
  std::vector<server::ContainerUsage> usage(const std::string& pod_uid) override;
  server::Usage node_usage() override;

 private:
  node::Node& node_;
};

}  // namespace trainyard::cli
