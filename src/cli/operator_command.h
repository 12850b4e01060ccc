// OperatorCommand: `trainyard operator` as it was asked for, from flags and config file. Value.
#pragma once

#include <string>
#include <vector>

#include "cli/service_command.h"
#include "dialect/shared/dialect.h"

namespace trainyard::cli {

struct OperatorCommand : ServiceCommand {
  OperatorCommand() { lease_name = "trainyard-operator"; }

  std::vector<std::string> namespaces;                // none: all
  std::vector<std::string> dialects{"tfjob", "t9k"};  // by their names
  bool own_volcano_jobs = false;
  dialect::Settings settings;
  int workers = 16;                // passes at once
  bool each_event = false;         // an Event for each replica, where one could name several
  std::vector<std::string> notes;  // what was said that changes nothing, in words

  bool operator==(const OperatorCommand&) const = default;
};

}  // namespace trainyard::cli
