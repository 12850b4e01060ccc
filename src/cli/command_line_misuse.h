// What is wrong with a command line that could not be parsed, in words, and what was probably meant. Pure.
// Used by command_line.cc alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace trainyard::cli {

// The command that the first of the words lead to: of {"queue", "create", "x"} two.
struct Reached {
  const CLI::App* app;
  size_t words = 0;
};
Reached command_reached(const CLI::App& app, const std::vector<std::string>& words);

// "; did you mean 'run'?", or "" when none of them is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known);

// `words`: what was parsed, the command first. REQUIRES: `app` has parsed them and thrown `error`.
std::string misuse_in_words(const CLI::App& app, const std::vector<std::string>& words,
                            const CLI::ParseError& error);

}  // namespace trainyard::cli
