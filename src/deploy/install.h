// Everything that a cluster is given, as objects in the order in which they are applied. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"

namespace trainyard::deploy {

// Who places the pods of a job together. kTrainyard is our own scheduler, under the names that
// Volcano's, kube-batch's and T9k's have.
enum class Gang { kNone, kVolcano, kKubeBatch, kCoscheduling, kT9k, kTrainyard };

struct InstallOptions {
  std::string name_space = "trainyard-system";
  std::string image = "trainyard:latest";
  Gang gang = Gang::kNone;
  bool namespaced = false;    // jobs of that namespace alone, and no rights beyond it
  bool scheduler = false;     // our scheduler as well; kTrainyard brings it anyway
  bool volcano_crds = false;  // and Volcano's jobs are looked after
  bool crds_only = false;
  std::vector<int> api_ports;  // where the API server listens, beside the usual ones

  bool operator==(const InstallOptions&) const = default;
};

std::vector<json::object> install_objects(const InstallOptions& options);

// The files under deploy/ that are made from the same objects: path below deploy/, text.
std::map<std::string, std::string> deploy_files();

}  // namespace trainyard::deploy
