#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "cli/command_line.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

// The long options that the help of a command shows.
std::vector<std::string> options_in_help(std::string_view command) {
  std::string help = std::get<Help>(read_command_line({std::string(command), "--help"})).text;
  help.resize(std::min(help.find("Examples:"), help.size()));
  std::vector<std::string> options;
  static const std::regex kOption(R"(--([a-z-]+))");
  for (std::sregex_iterator at(help.begin(), help.end(), kOption), end; at != end; ++at)
    options.push_back((*at)[1]);
  return options;
}

TEST(Completion, EveryShellKnowsEveryCommandAndOption) {
  for (std::string_view shell : {"bash", "zsh", "fish"}) {
    std::string script = completion_script(shell);
    for (std::string_view command : command_names()) {
      EXPECT_THAT(script, HasSubstr(std::string(command))) << shell;
      for (const std::string& option : options_in_help(command)) {
        if (option == "help") continue;
        std::string written = shell == "fish" ? "-l " + option : "--" + option;
        EXPECT_THAT(script, HasSubstr(written)) << shell << " " << command;
      }
    }
  }
}

}  // namespace
}  // namespace trainyard::cli
