// ServiceFlags: the flags of a ServiceCommand on the command line. Used by the command lines of the
// operator and of the scheduler alone.
#pragma once

#include <string>

#include "cli/service_command.h"

namespace CLI {
class App;
}

namespace trainyard::cli {

class ServiceFlags {
 public:
  // `several`: what there may be several of, "operators".
  static void add_cluster(CLI::App& app, ServiceCommand& command);
  static void add_lease(CLI::App& app, ServiceCommand& command, const std::string& several);
  static void add_connections(CLI::App& app, ServiceCommand& command, const std::string& about);
  void add_outlook(CLI::App& app, ServiceCommand& command);
  // What was said of the log, once the command line is parsed.
  void read(ServiceCommand& command) const;

 private:
  std::string log_level_ = "info";
  std::string log_form_ = "text";
};

}  // namespace trainyard::cli
