// The command `operator` on the command line and in its config file. Used by
// command_line.cc alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"

namespace CLI {
class App;
}

namespace trainyard::cli {

class OperatorCommands {
 public:
  OperatorCommands();
  ~OperatorCommands();
  void describe(CLI::App& app);
  // The words of a Deployment of Kubeflow's as our commands know them: programs in Go take -name for --name,
  // and --name= for an empty value. Other commands' words as they are. REQUIRES: describe().
  std::vector<std::string> as_we_write(std::vector<std::string> words) const;
  // The command as it was parsed, its config file read; Misused when they make no sense;
  // nullopt when it is another command.
  std::optional<Command> read(std::string_view name) const;

 private:
  struct Raw;
  std::unique_ptr<Raw> raw_;
};

}  // namespace trainyard::cli
