// ServiceCommand: what `trainyard operator` and `trainyard scheduler` have in common as they were
// asked for: where the cluster is, who leads, where one may look at them. Value.
#pragma once

#include <string>

namespace trainyard::cli {

enum class LogForm { kText, kJson };
enum class LogLevel { kDebug, kInfo, kWarning, kError };

struct ServiceCommand {
  // Where the cluster is; "" for $KUBECONFIG, ~/.kube/config or the pod's service account.
  std::string kubeconfig;
  std::string context;
  std::string server;  // "": the one of the kubeconfig

  bool leader_elect = true;
  std::string identity;  // "": as service_identity() says
  std::string lease_ns;  // "": where we run
  std::string lease_name;

  int connections = 16;                   // requests at once, watches aside
  std::string metrics_address = ":8080";  // "0" for none
  std::string health_address = ":8081";
  LogLevel log_level = LogLevel::kInfo;
  LogForm log_form = LogForm::kText;

  bool operator==(const ServiceCommand&) const = default;
};

}  // namespace trainyard::cli
