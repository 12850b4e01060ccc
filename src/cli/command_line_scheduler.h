// The commands `scheduler` and `queue` on the command line. Used by command_line.cc alone.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "cli/commands.h"

namespace CLI {
class App;
}

namespace trainyard::cli {

class SchedulerCommands {
 public:
  SchedulerCommands();
  ~SchedulerCommands();
  void describe(CLI::App& app);
  // The command as it was parsed; nullopt when it is another command.
  std::optional<Command> read(std::string_view name) const;

 private:
  struct Raw;
  std::unique_ptr<Raw> raw_;
};

}  // namespace trainyard::cli
