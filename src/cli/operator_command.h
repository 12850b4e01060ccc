// OperatorCommand: `trainyard operator` as it was asked for, from flags and config file. Value.
#pragma once

#include <string>
#include <vector>

#include "dialect/shared/dialect.h"

namespace trainyard::cli {

enum class LogForm { kText, kJson };
enum class LogLevel { kDebug, kInfo, kWarning, kError };

struct OperatorCommand {
  // Where the cluster is; "" for $KUBECONFIG, ~/.kube/config or the pod's service account.
  std::string kubeconfig;
  std::string context;
  std::vector<std::string> namespaces;                // none: all
  std::vector<std::string> dialects{"tfjob", "t9k"};  // by their names
  bool own_volcano_jobs = false;
  dialect::Settings settings;

  bool leader_elect = true;
  std::string identity;  // "": the host's name and something random
  std::string lease_ns;  // "": where we run
  std::string lease_name = "trainyard-operator";

  int workers = 16;                       // passes at once
  int connections = 16;                   // requests at once, watches aside
  bool each_event = false;                // an Event for each replica, where one could name several
  std::string metrics_address = ":8080";  // "0" for none
  std::string health_address = ":8081";
  LogLevel log_level = LogLevel::kInfo;
  LogForm log_form = LogForm::kText;
  std::vector<std::string> notes;  // what was said that changes nothing, in words

  bool operator==(const OperatorCommand&) const = default;
};

}  // namespace trainyard::cli
