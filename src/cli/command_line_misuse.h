// What is wrong with a command line that could not be parsed, in words, and what was probably meant. Pure.
// Used by command_line.cc alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace trainyard::cli {

// "; did you mean 'run'?", or "" when none of them is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known);

// `words`: what was parsed, the command first. REQUIRES: `app` has parsed them and thrown `error`.
std::string misuse_in_words(const CLI::App& app, const std::vector<std::string>& words,
                            const CLI::ParseError& error);

}  // namespace trainyard::cli
