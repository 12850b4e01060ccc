// The commands of the embedded plane on the command line: run, up, down, status, pull,
// import, images, and the hidden shim. Used by command_line.cc alone.
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

// Options that several commands take.
void add_settings(CLI::App& command, dialect::Settings& settings);
void add_paths(CLI::App& command, std::vector<std::string>& paths);

class PlaneCommands {
 public:
  PlaneCommands();
  ~PlaneCommands();
  void describe(CLI::App& app);
  // The command of that name as it was parsed; nullopt when it is none of these.
  std::optional<Command> read(std::string_view name) const;
  // Those that people use.
  static const std::vector<std::string_view>& names();

 private:
  struct Raw;
  std::unique_ptr<Raw> raw_;
};

}  // namespace trainyard::cli
