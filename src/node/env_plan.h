// Environment, command and arguments of a container: from the pod's words to what a
// process is given. Pure; what is read elsewhere (configMaps, secrets) is passed in.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "kube/quantity.h"

namespace trainyard::node {

using Object = std::shared_ptr<const json::object>;
using Env = std::vector<std::pair<std::string, std::string>>;

// What a pod's plan depends on besides the pod. Names that are not in a map do not exist.
struct Around {
  std::map<std::string, Object> config_maps;  // of the pod's namespace
  std::map<std::string, Object> secrets;
  std::vector<Object> services;
  std::string node_name;
  std::string host_ip;
  std::string pod_ip;
  int64_t node_cpu_millis = 0;  // what a limit defaults to for the downward API
  int64_t node_memory_bytes = 0;
  int64_t node_disk_bytes = 0;
};

// What Linux takes: no text that is longer is handed to a program, and no environment that is larger.
inline constexpr size_t kProgramTextMax = 128 << 10;
inline constexpr size_t kEnvironmentMax = 8 << 20;

// $(NAME) becomes its value, $$ a dollar; what is not known stays as it is. A text that grows beyond
// kProgramTextMax goes on no further than the value that made it so: no program can be given it, and
// values that name one another twice would double without end.
std::string expand(std::string_view text, const std::map<std::string, std::string>& values);

// metadata.name, metadata.labels['x'], status.podIP, ...; kInvalid for a path there is none of.
Result<std::string> field_of(const json::object& pod, const Around& around, std::string_view path);
// limits.cpu, requests.memory, ... of a container, divided and rounded up.
Result<std::string> resource_field_of(const json::object& pod, const json::object& reference,
                                      std::string_view own_container, const Around& around);
// {NAME_SERVICE_HOST, ...} as Kubernetes injects it for services with an address, which has no meaning here:
// they name the service and the pod's own port.
Env service_env(const std::vector<Object>& services);

// Everything the container sees, each name once. The error is what a pod shows as
// CreateContainerConfigError: secret "x" not found; couldn't find key y in Secret ns/x; or that it is
// larger than kEnvironmentMax. Keys of envFrom that are no names of variables are left out; `left_out`
// says so in words, when somebody wants to know.
Result<Env> plan_env(const json::object& pod, const json::object& container, const Around& around,
                     std::vector<std::string>* left_out = nullptr);

// What a volume shows of it: values of a secret in clear; of a configMap from data and binaryData.
Result<std::map<std::string, std::string>> contents_of(const Object& source, bool is_secret);
// What may become variables: of a configMap data alone, as on a cluster.
Result<std::map<std::string, std::string>> variables_of(const Object& source, bool is_secret);

}  // namespace trainyard::node
