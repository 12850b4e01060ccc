#include "cli/command_line_misuse.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/nearest_word.h"
#include "cli/habits.h"

namespace trainyard::cli {
namespace {

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(one->get_name());
  }
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string hint(std::string_view word, const std::vector<std::string>& known) {
  return did_you_mean(word, {known.begin(), known.end()});
}

std::string option_hint(const CLI::App& command, std::string_view option) {
  std::string_view habit = habit_of_option(command.get_name(), option);
  return habit.empty() ? hint(option, names_of_options(command)) : fmt::format("; {}", habit);
}

// What was left over: an option or a word that nobody expected.
std::string unexpected(const CLI::App& command, const std::string& word) {
  if (!word.starts_with("-")) return fmt::format("'{}' was not expected", word);
  std::string option = word.substr(0, word.find('='));
  return fmt::format("unknown option '{}'{}", option, option_hint(command, option));
}

// "--gpus: 1 required INT:INT in [0 - 1024] missing" is no sentence, and a path needs no --filename.
std::string in_plain_words(const std::string& said) {
  const bool is_typed = said.ends_with(" missing") && said.find(": 1 required ") != std::string::npos;
  if (is_typed) return fmt::format("{}: a value is missing", said.substr(0, said.find(':')));
  return said == "--filename is required" ? "PATH is required" : said;
}

}  // namespace

Reached command_reached(const CLI::App& app, const std::vector<std::string>& words) {
  Reached reached{&app};
  for (const std::string& word : words) {
    std::vector<const CLI::App*> named =
        reached.app->get_subcommands([&](const CLI::App* one) { return one->check_name(word); });
    if (named.empty()) break;
    reached = {named[0], reached.words + 1};
  }
  return reached;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known) {
  std::string near = nearest_word(word, known);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

std::string misuse_in_words(const CLI::App& app, const std::vector<std::string>& words,
                            const CLI::ParseError& error) {
  const Reached reached = command_reached(app, words);
  std::string name;  // "queue create "
  for (size_t i = 0; i < reached.words; ++i) name += words[i] + " ";
  std::string said = in_plain_words(error.what());
  const std::vector<std::string> commands = names_of_commands(*reached.app);
  const std::vector<std::string> left = reached.app->remaining();
  if (!commands.empty()) {
    const std::string* word = reached.words < words.size() ? &words[reached.words] : nullptr;
    said = word == nullptr || word->starts_with("-")
               ? fmt::format("a command is missing: {}", fmt::join(commands, ", "))
               : fmt::format("unknown command '{}{}'{}", name, *word, hint(*word, commands));
  } else if (!left.empty()) {
    said = unexpected(*reached.app, left[0]);
  }
  return fmt::format("{}\nRun 'trainyard {}--help' for help.\n", said, name);
}

}  // namespace trainyard::cli
