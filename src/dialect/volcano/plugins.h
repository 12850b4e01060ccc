// The job plugins of a manifest, with their arguments read. Pure values; what each does
// to a pod and which objects it needs is in its own file (plugin_env.h, plugin_svc.h ...).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/shared/reader.h"

namespace trainyard::dialect::vc {

// Every container learns the index of its pod.
struct EnvPlugin {};

// Pods find one another: host names, a Service, a ConfigMap with the lists of hosts.
struct SvcPlugin {
  bool publish_not_ready = false;
  bool network_policy = true;
  bool hosts_in_env = true;
};

// Pods may log into one another.
struct SshPlugin {
  std::string path;
  std::string private_key;  // "" when one is to be made
  std::string public_key;
  int port = 22;
};

// TF_CONFIG. The names of the tasks that play TensorFlow's roles.
struct TensorFlowPlugin {
  std::string ps;
  std::string worker;
  std::string chief;
  std::string evaluator;
  int port = 2222;
};

struct Plugins {
  std::optional<EnvPlugin> env;
  std::optional<SvcPlugin> svc;
  std::optional<SshPlugin> ssh;
  std::optional<TensorFlowPlugin> tensorflow;

  // The names of those that are there, sorted.
  std::vector<std::string_view> names() const;
};

// spec.plugins; unknown plugins, those we do not have and wrong arguments are reported.
Plugins decode_plugins(const Reader& spec);

}  // namespace trainyard::dialect::vc
