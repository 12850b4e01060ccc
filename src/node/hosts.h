// Names that pods know one another by: services and the host names of pods, as a cluster's
// DNS would answer, in the form of a hosts file. Pure.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "node/env_plan.h"

namespace trainyard::node {

// A pod as names see it.
struct NamedPod {
  Object pod;
  std::string ip;  // "" while it has none
};

// Every name that a pod in `ns` can ask for: <svc>, <svc>.<ns>, <svc>.<ns>.svc and with the
// domain of the cluster; <hostname>.<subdomain> likewise. Of several pods the first by name.
std::map<std::string, std::string> hosts_for(std::string_view ns, const std::vector<NamedPod>& pods,
                                             const std::vector<Object>& services, std::string_view domain);

// spec.hostAliases: what a pod adds to its own hosts file.
std::map<std::string, std::string> host_aliases_of(const json::object& pod);

}  // namespace trainyard::node
