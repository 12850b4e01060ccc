#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "cli/command_line_install.h"
#include "cli/command_line_misuse.h"
#include "cli/command_line_operator.h"
#include "cli/command_line_plane.h"
#include "cli/command_line_scheduler.h"
#include "cli/habits.h"
#include "cli/verbs_command_line.h"
#include "cli/whole_number.h"

namespace trainyard::cli {
namespace {

// What CLI11 fills in; one per parse.
struct Raw {
  std::vector<std::string> paths;
  std::string output;
  std::string now;
  std::string to;
  std::string shell;
  uint64_t seed = 1;
  uint64_t count = 1;
  bool trace = false;
  int threads = 0;
  bool version = false;
  dialect::Settings settings;
  PlaneCommands plane;
  OperatorCommands operators;
  SchedulerCommands schedulers;
  InstallCommand install;
  VerbCommands verbs;
};

void add_validate(CLI::App& app, Raw& raw) {
  CLI::App* command = app.add_subcommand("validate", "Check manifests; tell every problem at once");
  add_paths(*command, raw.paths);
  add_settings(*command, raw.settings);
  command->footer(
      "Exit status: 0 every job is valid, 1 something is wrong, 2 the command line is.\n"
      "Objects of other kinds pass through.\n\n"
      "Examples:\n"
      "  trainyard validate job.yaml\n"
      "  trainyard validate manifests/\n"
      "  kubectl get tfjobs -o yaml | trainyard validate -");
}

void add_explain(CLI::App& app, Raw& raw) {
  CLI::App* command = app.add_subcommand("explain", "Show what a job means and what would be done next");
  add_paths(*command, raw.paths);
  command
      ->add_option("-o,--output", raw.output, "Print the objects that would be created instead: yaml or json")
      ->check(CLI::IsMember({"yaml", "json"}));
  command->add_option("--now", raw.now, "Plan as of this time (RFC 3339) instead of now");
  add_settings(*command, raw.settings);
  command->footer(
      "A job that carries a status is planned for as well; pods given along with it are taken into "
      "account.\n\n"
      "Examples:\n"
      "  trainyard explain job.yaml\n"
      "  trainyard explain -o yaml job.yaml | kubectl apply -f -\n"
      "  kubectl get tfjobs,pods -o yaml | trainyard explain -");
}

void add_convert(CLI::App& app, Raw& raw) {
  CLI::App* command = app.add_subcommand("convert", "Write the same job in another dialect");
  command->add_option("--to", raw.to, "The dialect to write: tfjob, t9k or volcano")
      ->required()
      ->check(CLI::IsMember({"tfjob", "t9k", "volcano"}));
  add_paths(*command, raw.paths);
  command->footer(
      "Comments at the top of each job say what could not be carried over.\n\n"
      "Examples:\n"
      "  trainyard convert --to volcano tfjob.yaml\n"
      "  trainyard convert --to tfjob old/ > new.yaml");
}

void add_sim(CLI::App& app, Raw& raw) {
  CLI::App* command =
      app.add_subcommand("sim", "Run simulated worlds full of faults and check what must always hold");
  command->add_option("--seed", raw.seed, "The first seed")->capture_default_str()->check(whole_number());
  command->add_option("--count", raw.count, "How many seeds, one after the other")
      ->capture_default_str()
      ->check(whole_number(1));
  command->add_option("--threads", raw.threads, "How many worlds at once; 0 is one per core")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  command->add_flag("--trace", raw.trace, "Tell the story of the seed step by step");
  command->footer(
      "A seed that fails is shrunk and printed; the exit status is then 1.\n\n"
      "Examples:\n"
      "  trainyard sim --seed 1 --count 1000\n"
      "  trainyard sim --seed 42 --trace");
}

void add_completion(CLI::App& app, Raw& raw) {
  CLI::App* command = app.add_subcommand("completion", "Print the completion script of a shell");
  command->add_option("SHELL", raw.shell, "bash, zsh or fish")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n"
      "  trainyard completion bash > /etc/bash_completion.d/trainyard\n"
      "  trainyard completion zsh > \"${fpath[1]}/_trainyard\"\n"
      "  trainyard completion fish > ~/.config/fish/completions/trainyard.fish");
}

void describe(CLI::App& app, Raw& raw) {
  app.name("trainyard");
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Print this help");
  app.add_flag("--version", raw.version, "Print the version");
  raw.plane.describe(app);
  raw.operators.describe(app);
  raw.schedulers.describe(app);
  raw.install.describe(app);
  raw.verbs.describe(app);
  add_validate(app, raw);
  add_explain(app, raw);
  add_convert(app, raw);
  add_sim(app, raw);
  add_completion(app, raw);
  app.add_subcommand("version", "Print the version");
  app.footer(
      "Examples:\n"
      "  trainyard run job.yaml\n"
      "  trainyard explain job.yaml\n"
      "  trainyard up --detach\n\n"
      "trainyard COMMAND --help, or help COMMAND, tells more.");
}

Command explain_of(const Raw& raw) {
  Explain explain{raw.paths, OutputForm::kText, std::nullopt, raw.settings};
  if (raw.output == "yaml") explain.form = OutputForm::kYaml;
  if (raw.output == "json") explain.form = OutputForm::kJson;
  if (!raw.now.empty()) {
    explain.now = parse_rfc3339(raw.now);
    if (!explain.now) {
      return Misused{
          fmt::format("--now: '{}' is not an RFC 3339 time such as 2026-01-31T12:00:00Z\n", raw.now)};
    }
  }
  return explain;
}

Command simulate_of(const Raw& raw) {
  if (raw.trace && raw.count > 1) return Misused{"--trace tells the story of one seed: leave --count out\n"};
  if (raw.count - 1 > std::numeric_limits<uint64_t>::max() - raw.seed) {
    return Misused{fmt::format("--count: there are not so many seeds from {}\n", raw.seed)};
  }
  return Simulate{raw.seed, raw.count, raw.trace, raw.threads};
}

Command command_of(std::string_view name, const Raw& raw) {
  if (name == "validate") return Validate{raw.paths, raw.settings};
  if (name == "explain") return explain_of(raw);
  if (name == "convert") return Convert{raw.paths, raw.to};
  if (name == "sim") return simulate_of(raw);
  if (name == "completion") return Completion{raw.shell};
  if (name == "install") return raw.install.read();
  if (std::optional<Command> command = raw.plane.read(name)) return *command;
  if (std::optional<Command> command = raw.operators.read(name)) return *command;
  if (std::optional<Command> command = raw.schedulers.read(name)) return *command;
  if (auto verb = raw.verbs.read(name)) {
    return std::visit([](auto read) -> Command { return read; }, std::move(*verb));
  }
  return Version{};
}

// What is wrong with the first word: no command is called so.
std::optional<Misused> unknown_command(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::nullopt;
  const std::string& word = arguments[0];
  if (word == "-h" || word == "--help" || word == "--version" || word == "shim") return std::nullopt;
  if (word.starts_with("-")) {
    return Misused{
        fmt::format("unknown option '{0}' before a command; options go behind it: trainyard COMMAND {0}\n"
                    "Run 'trainyard --help' for help.\n",
                    word)};
  }
  for (std::string_view known : command_names()) {
    if (word == known) return std::nullopt;
  }
  std::string_view habit = habit_of_command(word);
  std::string hint = habit.empty() ? did_you_mean(word, command_names()) : fmt::format("; {}", habit);
  return Misused{
      fmt::format("unknown command '{}'{}\nRun 'trainyard --help' for the commands.\n", word, hint)};
}

}  // namespace

const std::vector<std::string_view>& command_names() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names = {"operator", "scheduler", "queue", "install",    "validate",
                                           "explain",  "convert",   "sim",   "completion", "version"};
    const std::vector<std::string_view>& plane = PlaneCommands::names();
    const std::vector<std::string_view>& verbs = VerbCommands::names();
    names.insert(names.begin(), verbs.begin(), verbs.end());
    names.insert(names.begin(), plane.begin(), plane.end());
    return names;
  }();
  return kNames;
}

namespace {

// Who asks for help gets it, whatever else is missing: of the words the commands alone are left.
std::vector<std::string> only_help_of(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> left = words;
  left.resize(command_reached(app, words).words);
  left.push_back("--help");
  return left;
}

}  // namespace

Command read_command_line(const std::vector<std::string>& arguments) {
  // As many programs have it: "help" is the program's own, "help run" a command's.
  if (!arguments.empty() && arguments[0] == "help") {
    std::vector<std::string> about(arguments.begin() + 1, arguments.end());
    about.push_back("--help");
    return read_command_line(about);
  }
  if (std::optional<Misused> unknown = unknown_command(arguments)) return *unknown;
  CLI::App app("Runs TensorFlow training jobs from the YAML people already have");
  Raw raw;
  describe(app, raw);
  if (arguments.empty()) return Misused{app.help()};
  if (arguments[0] == "--version") return Version{};
  std::vector<std::string> words = raw.operators.as_we_write(raw.verbs.take_command(arguments));
  try {
    bool asks = std::any_of(words.begin(), words.end(),
                            [](const std::string& word) { return word == "--help" || word == "-h"; });
    if (asks) words = only_help_of(app, words);
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    return Help{app.help()};
  } catch (const CLI::ParseError& error) {
    return Misused{misuse_in_words(app, words, error)};
  }
  return command_of(app.get_subcommands().at(0)->get_name(), raw);
}

}  // namespace trainyard::cli
