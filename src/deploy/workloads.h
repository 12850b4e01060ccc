// The programs as they run in a cluster: their Deployments and what belongs to them. Pure.
#pragma once

#include <string>
#include <vector>

#include "deploy/install.h"
#include "kube/json.h"

namespace trainyard::deploy {

// One of our programs in a cluster.
struct Workload {
  std::string name;     // of its objects: trainyard-operator
  std::string command;  // of the binary: operator
  std::vector<std::string> flags;
};

Workload operator_workload(const InstallOptions& options);
Workload scheduler_workload(const InstallOptions& options);

json::object deployment_of(const Workload& workload, const InstallOptions& options);
json::object metrics_service_of(const Workload& workload, const InstallOptions& options);
json::object disruption_budget_of(const Workload& workload, const InstallOptions& options);
json::object network_policy_of(const Workload& workload, const InstallOptions& options);

// apiVersion, kind and metadata of an object of ours. `name_space` is "" for those of the cluster.
json::object object_head(std::string_view api_version, std::string_view kind, std::string_view name,
                         std::string_view name_space);

}  // namespace trainyard::deploy
