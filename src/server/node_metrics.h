// metrics.k8s.io: what `kubectl top` shows, made up from what the node measures now.
// Thread-safe.
#pragma once

#include <string>

#include "hub/hub.h"
#include "server/call.h"
#include "server/objects.h"
#include "server/pod_access.h"

namespace trainyard::server {

class NodeMetrics {
 public:
  NodeMetrics(hub::Hub& hub, PodAccess* pods, std::string node_name, Run run)
      : hub_(hub), pods_(pods), node_name_(std::move(node_name)), run_(std::move(run)) {}

  // REQUIRES: call->api has Backing::kMetrics.
  void handle(const CallRef& call);

 private:
  std::vector<ObjectRef> measure(const std::vector<hub::Object>& all, const CallRef& call);
  static void answer_with(const CallRef& call, const std::vector<ObjectRef>& items);

  hub::Hub& hub_;
  PodAccess* pods_;
  std::string node_name_;
  Run run_;
};

// A PodMetrics and a NodeMetrics, with the labels of what is measured; pure.
json::object pod_metrics(const json::object& pod, std::string_view api_version,
                         const std::vector<ContainerUsage>& usage, Time now);
json::object node_metrics(const json::object& node, std::string_view api_version, const Usage& usage,
                          Time now);

}  // namespace trainyard::server
