// What jobs of a `run` need and can never have: a run has a plane of its own, so nobody brings
// it later. Said before anything starts, each thing once.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/manifest.h"
#include "cli/plane.h"

namespace trainyard::cli {

// A sentence for each, with the document's place before it. Waits a moment for the plane's node
// to say what it has. REQUIRES: the jobs are valid.
std::vector<std::string> unmet_needs(Plane& plane, const std::vector<Object>& documents,
                                     const PlaneSettings& settings);

// The Secrets, ConfigMaps and claims that a pod cannot start without, as "secret/name". Pure.
std::vector<std::string> references_of(const json::object& pod);

// A key of a Secret or a ConfigMap without which the pod cannot start.
struct KeyReference {
  std::string kind;  // "Secret"
  std::string name;
  std::string key;
  bool in_a_variable = false;  // then binaryData of a ConfigMap does not count
  bool operator==(const KeyReference&) const = default;
};
// Each once. Pure.
std::vector<KeyReference> keys_of(const json::object& pod);

// Volumes of kinds that are not to be had here: name and kind. Pure.
std::vector<std::pair<std::string, std::string>> foreign_volumes(const json::object& pod);

// Which nodes the pod wants by nodeSelector or nodeAffinity, in words, when the node is none of them. Pure.
std::optional<std::string> wanted_elsewhere(const json::object& pod, const json::object& node);

// A sentence for each variable of the pod with which no program can be started: TF_CONFIG names every
// replica of a job. Pure.
std::vector<std::string> oversized_variables(const json::object& pod);

// The containers of the pod that leave what to run to their images: name and image. Pure.
std::vector<std::pair<std::string, std::string>> without_command(const json::object& pod);

}  // namespace trainyard::cli
