// The verbs on the command line. Used by command_line.cc alone; with it and
// command_line_plane.cc the only files that see CLI11.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/commands.h"
#include "cli/verbs.h"

namespace CLI {
class App;
}

namespace trainyard::cli {

class VerbCommands {
 public:
  VerbCommands();
  ~VerbCommands();
  void describe(CLI::App& app);
  // Keeps what stands behind "--" of an exec for itself and gives the rest back: CLI11
  // would look for options in it.
  std::vector<std::string> take_command(const std::vector<std::string>& arguments);
  // The verb of that name as it was parsed; nullopt when it is none of these.
  std::optional<std::variant<OnCluster, Misused>> read(std::string_view name) const;
  // In the order in which help shows them.
  static const std::vector<std::string_view>& names();

 private:
  struct Raw;
  std::unique_ptr<Raw> raw_;
};

}  // namespace trainyard::cli
