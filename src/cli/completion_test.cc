#include "cli/completion.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

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

// The part of a script that is about one command.
std::string part_about(std::string_view command, const std::string& zsh) {
  size_t at = zsh.find(fmt::format("\n    {}) ", command));
  return at == std::string::npos ? "" : zsh.substr(at, zsh.find(" ;;\n", at) - at);
}

// A flag that seemed to want a value would swallow the path after it.
TEST(Completion, OptionsTakeAValueWhereTheHelpSaysSo) {
  const std::string zsh = completion_script("zsh");
  static const std::regex kOption(R"(^  (?:-\w,)?--([a-z-]+)(?:,--[a-z-]+)*( [A-Z]+\b| \.\.\.)?)",
                                  std::regex::multiline);
  int seen = 0;
  for (std::string_view command : command_names()) {
    const std::string help = std::get<Help>(read_command_line({std::string(command), "--help"})).text;
    for (std::sregex_iterator at(help.begin(), help.end(), kOption), end; at != end; ++at) {
      const std::string name = (*at)[1];
      const std::regex shown(fmt::format("--{}\\[[^\\]]*\\](:value:)?", name));
      std::smatch found;
      const std::string part = part_about(command, zsh);
      if (!std::regex_search(part, found, shown)) continue;  // other spellings of one
      EXPECT_EQ(found[1].matched, (*at)[2].matched) << command << " --" << name;
      ++seen;
    }
  }
  EXPECT_GT(seen, 100);
}

// "-o" stands in every example; what follows it is what follows "--output".
TEST(Completion, ALetterIsCompletedAsTheOptionThatItStandsFor) {
  const std::string bash = completion_script("bash");
  const std::string zsh = completion_script("zsh");
  const std::string fish = completion_script("fish");
  static const std::regex kOption(R"(^  -(\w),--([a-z-]+)( [A-Z]+\b| \.\.\.)?)", std::regex::multiline);
  int seen = 0;
  for (std::string_view command : command_names()) {
    const std::string help = std::get<Help>(read_command_line({std::string(command), "--help"})).text;
    for (std::sregex_iterator at(help.begin(), help.end(), kOption), end; at != end; ++at) {
      const std::string letter = (*at)[1];
      const std::string name = (*at)[2];
      if (name == "help") continue;
      SCOPED_TRACE(fmt::format("{} -{}", command, letter));
      if ((*at)[3].matched) {
        EXPECT_THAT(bash, HasSubstr(fmt::format("|\"{} -{}\"", command, letter)));
      }
      EXPECT_THAT(part_about(command, zsh), HasSubstr(fmt::format("'(--{})-{}[", name, letter)));
      EXPECT_THAT(fish, HasSubstr(fmt::format("_from {}' -s {} -l {} ", command, letter, name)));
      ++seen;
    }
  }
  EXPECT_GT(seen, 30);
}

// The help of the option names three.
TEST(Completion, EveryGangSchedulerIsOffered) {
  EXPECT_THAT(
      completion_script("bash"),
      HasSubstr(
          R"("explain --gang-scheduler-name") COMPREPLY=($(compgen -W "volcano kube-batch trainyard" )"));
}

// An apostrophe in a help text ends the quotation, and fish reads nothing of the script then.
TEST(Completion, QuotesAreClosedInEveryLine) {
  for (std::string_view shell : {"bash", "zsh", "fish"}) {
    std::istringstream script(completion_script(shell));
    for (std::string line; std::getline(script, line);)
      EXPECT_EQ(std::count(line.begin(), line.end(), '\'') % 2, 0) << shell << ": " << line;
  }
}

TEST(Completion, ZshMayLoadItOrSourceIt) {
  const std::string zsh = completion_script("zsh");
  EXPECT_TRUE(zsh.starts_with("#compdef trainyard\n"));
  EXPECT_THAT(zsh, HasSubstr("  _trainyard \"$@\"\nelse\n  compdef _trainyard trainyard\nfi\n"));
}

}  // namespace
}  // namespace trainyard::cli
