// The command `install` on the command line. Used by command_line.cc alone.
#pragma once

#include <memory>

#include "cli/install_command.h"

namespace CLI {
class App;
}

namespace trainyard::cli {

class InstallCommand {
 public:
  InstallCommand();
  ~InstallCommand();
  void describe(CLI::App& app);
  // REQUIRES: that command was parsed.
  Install read() const;

 private:
  struct Raw;
  std::unique_ptr<Raw> raw_;
};

}  // namespace trainyard::cli
