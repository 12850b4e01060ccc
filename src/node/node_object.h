// The Node object and its Lease, as a kubelet writes them. Pure.
#pragma once

#include <string>

#include "base/time.h"
#include "kube/json.h"
#include "kube/meta.h"
#include "node/node.h"

namespace trainyard::node {

inline constexpr kube::Resource kNodes{"", "v1", "Node", "nodes", false, true};
inline constexpr const char* kLeaseNamespace = "kube-node-lease";
// Nobody but people judges this node by its lease, and a steady world should write little.
inline constexpr Duration kLeaseEvery{60'000};
inline constexpr int kLeaseSeconds = 240;

// Facts about the machine that only the edge knows.
struct MachineFacts {
  std::string kernel;
  std::string os_image;
  std::string architecture;  // "amd64"
  std::string machine_id;
  std::string boot_id;
};

json::object node_object(const NodeOptions& options, const MachineFacts& facts);
// `before` is the status as it is, for the times of conditions.
json::object node_status(const NodeOptions& options, const MachineFacts& facts, std::string_view runtime,
                         const json::object* before, Time now);
json::object node_lease(const NodeOptions& options, Time now);

// As images and nodes are labelled: "amd64", "arm64".
std::string machine_architecture();
// Reads them from /proc and /etc.
MachineFacts read_machine_facts();

}  // namespace trainyard::node
