// What an API server demands of the parts of a pod beyond their types: the source of a volume,
// paths that stay inside, names of variables, fields that can be told to a container, probes
// with one handler. Pure; one list of rules for whoever takes pods or templates of pods.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"

namespace trainyard::kube {

struct PartFault {
  enum class Kind { kRequired, kInvalid, kForbidden, kUnsupported };
  Kind kind = Kind::kInvalid;
  std::string path;                         // below the part: "hostPath.path"
  std::string value;                        // what was found, of kInvalid and kUnsupported
  std::string why;                          // what is wrong, of all but kUnsupported
  std::vector<std::string_view> supported;  // of kUnsupported
};

// At most one source, and no way out of a host's directory.
std::vector<PartFault> volume_faults(const json::object& volume);
// Whether the volume says where its files are; one that does not is an empty directory.
bool has_source(const json::object& volume);

// Its variables, mounts and probes.
std::vector<PartFault> container_faults(const json::object& container);

}  // namespace trainyard::kube
