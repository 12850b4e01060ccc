#include "cli/completion.h"

#include <fmt/format.h>

#include <vector>

namespace trainyard::cli {
namespace {

struct Option {
  std::string_view name;
  std::string_view help;
  std::string_view values;  // separated by spaces; "" when it takes none or any
  bool flag = false;        // takes none
};

// The same in every command that has it.
struct Spelling {
  std::string_view name;
  char letter;
};
constexpr Spelling kLetters[] = {
    {"--output", 'o'},    {"--filename", 'f'}, {"--namespace", 'n'}, {"--selector", 'l'},
    {"--container", 'c'}, {"--replica", 'r'},  {"--follow", 'f'},    {"--watch", 'w'},
    {"--quiet", 'q'},     {"--detach", 'd'},   {"--previous", 'p'},  {"--all-namespaces", 'A'},
    {"--stdin", 'i'},     {"--tty", 't'},
};

// "-o", or "" when there is none.
std::string letter_of(const Option& option) {
  for (const Spelling& one : kLetters) {
    if (one.name == option.name) return fmt::format("-{}", one.letter);
  }
  return "";
}

bool takes_path(const Option& option) {
  return option.name == "--data-dir" || option.name == "--kubeconfig" || option.name == "--config" ||
         option.name == "--filename";
}

struct CommandShape {
  std::string_view name;
  std::string_view help;
  std::string_view words;  // what may stand without an option; "" for paths, "-" for nothing
  std::vector<Option> options;
};

std::vector<Option> joined(std::vector<Option> options, const std::vector<Option>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

// Those that talk to an API.
std::vector<CommandShape> verb_shapes(const std::vector<Option>& settings) {
  const std::vector<Option> target = {{"--kubeconfig", "leads to the cluster", ""},
                                      {"--context", "of the kubeconfig", ""},
                                      {"--data-dir", "of the embedded plane", ""},
                                      {"--namespace", "to look in", ""}};
  const Option everywhere = {"--all-namespaces", "in all namespaces", "", true};
  const Option timeout = {"--timeout", "at most this long", ""};
  const std::vector<Option> replica = joined(target, {{"--replica", "such as worker-1", ""},
                                                      {"--role", "of the replica", ""},
                                                      {"--index", "of the replica", ""},
                                                      {"--container", "of the pod", ""}});
  std::vector<Option> submit = joined(settings, {{"--filename", "what to create", ""}});
  submit.insert(submit.end(), target.begin(), target.end());
  return {
      {"submit", "create jobs", "", submit},
      {"get", "list jobs", "all-jobs tfjob tft vcjob",
       joined(target, {{"--output", "the form", "wide yaml json name"},
                       {"--watch", "go on with what changes", "", true},
                       timeout,
                       {"--selector", "labels of the jobs", ""},
                       everywhere})},
      {"describe", "tell everything about a job", "-", target},
      {"logs", "print what replicas print", "-",
       joined(replica, {{"--all", "of all replicas", "", true},
                        {"--follow", "until the job is done", "", true},
                        {"--previous", "of the run before", "", true},
                        {"--back", "of a run so many before", ""},
                        {"--timestamps", "with times", "", true},
                        {"--tail", "so many last lines", ""},
                        {"--since", "of the last while", ""}})},
      {"pause", "stop jobs for a while", "-", target},
      {"resume", "go on with paused jobs", "-", target},
      {"scale", "change numbers of replicas", "-", target},
      {"delete", "delete jobs", "-", joined(target, {{"--wait", "until all is gone", "", true}, timeout})},
      {"wait", "wait for a job", "-",
       joined(target, {{"--for", "what", "succeeded failed finished running paused"}, timeout})},
      {"top", "show usage", "-", joined(target, {everywhere})},
      {"events", "show what happened", "-", target},
      {"exec", "run a command in a replica", "-",
       joined(replica, {{"--stdin", "hand input on", "", true}, {"--tty", "give it a terminal", "", true}})},
  };
}

CommandShape install_shape() {
  return {"install",
          "print what a cluster needs",
          "-",
          {{"--namespace", "where the operator runs", ""},
           {"--image", "the image that is run", ""},
           {"--gang", "who places gangs", "volcano kube-batch coscheduling t9k trainyard"},
           {"--namespaced", "jobs of that namespace alone", "", true},
           {"--scheduler", "our scheduler as well", "", true},
           {"--with-volcano-crds", "the kinds of Volcano as well", "", true},
           {"--api-port", "a further port of the API server", ""},
           {"--crds-only", "nothing but CRDs", "", true}}};
}

// What the programs that serve a cluster have in common.
std::vector<Option> service_options() {
  return {{"--kubeconfig", "leads to the cluster", ""},
          {"--context", "of the kubeconfig", ""},
          {"--master", "address of the API server", ""},
          {"--leader-elect", "one works, others stand by", "", true},
          {"--no-leader-elect", "without a lease", "", true},
          {"--leader-election-namespace", "where the lease is", ""},
          {"--leader-election-id", "name of the lease", ""},
          {"--identity", "our name in the lease", ""},
          {"--connections", "requests at once", ""},
          {"--metrics-addr", "of /metrics", ""},
          {"--metrics-bind-address", "of /metrics", ""},
          {"--health-addr", "of /healthz and /readyz", ""},
          {"--health-probe-bind-address", "of /healthz and /readyz", ""},
          {"--log-level", "the least that is said", "debug info warn error"},
          {"--log-format", "of lines", "text json"}};
}

CommandShape operator_shape(const std::vector<Option>& settings) {
  return {"operator", "look after the jobs of a cluster", "-",
          joined(joined(settings, service_options()),
                 {{"--config", "a file with these flags", ""},
                  {"--namespace", "to look after", ""},
                  {"--enable-scheme", "kinds of jobs", "tfjob t9k volcano"},
                  {"--own-volcano-jobs", "Volcano Jobs too", "", true},
                  {"--enable-gang-scheduling", "PodGroups for TFJobs", "", true},
                  {"--workers", "jobs at once", ""},
                  {"--controller-threads", "jobs at once", ""},
                  {"--threadiness", "jobs at once", ""},
                  {"--events", "how many Events", "combined each"},
                  {"--one-service-per-job", "instead of one per replica", "", true},
                  {"--zap-log-level", "the least that is said", "debug info error panic"},
                  {"--zap-encoder", "of lines", "console json"}})};
}

CommandShape scheduler_shape() {
  return {"scheduler", "place the pods of a cluster", "-",
          joined(service_options(), {{"--scheduler-name", "of the pods that are placed", ""},
                                     {"--default-queue", "of gangs that name none", ""},
                                     {"--preempt", "by priority", "", true},
                                     {"--no-preempt", "nobody makes room", "", true},
                                     {"--reclaim", "what a queue is due", "", true},
                                     {"--no-reclaim", "queues keep what they hold", "", true},
                                     {"--backfill", "small gangs overtake", "", true},
                                     {"--no-backfill", "nobody overtakes", "", true}})};
}

CommandShape queue_shape() {
  return {"queue",
          "show and change queues",
          "list describe create close open delete",
          {{"--kubeconfig", "leads to the cluster", ""},
           {"--context", "of the kubeconfig", ""},
           {"--data-dir", "of the embedded plane", ""},
           {"--namespace", "of queues of T9k", ""},
           {"--output", "for programs", "yaml json"},
           {"--weight", "of a new queue", ""},
           {"--priority", "of a new queue", ""},
           {"--capacity", "of a new queue", ""},
           {"--guarantee", "of a new queue", ""},
           {"--reclaimable", "of a new queue", "true false"}}};
}

std::vector<CommandShape> shapes() {
  const std::vector<Option> settings = {
      {"--cluster-domain", "domain of host names in TF_CONFIG", ""},
      {"--gang-scheduler-name", "gang scheduler of TFJobs", "volcano kube-batch trainyard"},
      {"--clean-pod-policy", "default of cleanPodPolicy", "Running All None"},
      {"--evaluator-in-cluster", "list the evaluator in TF_CONFIG", "", true},
  };
  const Option filename = {"--filename", "the manifest", ""};
  const std::vector<Option> validate = joined(settings, {filename});
  std::vector<Option> explain = validate;
  explain.push_back({"--output", "print objects instead", "yaml json"});
  explain.push_back({"--now", "plan as of this time", ""});
  const Option data_dir = {"--data-dir", "where everything is kept", ""};
  std::vector<Option> up = settings;
  up.insert(up.end(), {data_dir,
                       {"--runtime", "how pods run", "auto sandbox runc crun process"},
                       {"--gpus", "how many GPUs to offer", ""},
                       {"--pull", "bring images that are not here", "", true},
                       {"--tensorboard-command", "program of TensorBoards", ""},
                       {"--log-days", "keep logs for so long", ""},
                       {"--log-megabytes", "keep no more logs than this", ""}});
  std::vector<Option> run = joined(up, {filename});
  run.push_back({"--quiet", "no output of replicas", "", true});
  up.insert(up.end(), {{"--address", "the address to listen on", ""},
                       {"--port", "the port to listen on", ""},
                       {"--detach", "go to the background", "", true}});
  std::vector<CommandShape> all = {
      {"run", "run jobs on this machine", "", run},
      {"up", "start the embedded plane", "-", up},
      {"down",
       "stop the embedded plane",
       "-",
       {data_dir, {"--leave-running", "leave the replicas running", "", true}}},
      {"status", "tell whether the plane runs", "-", {data_dir}},
      {"pull", "bring images", "-", {data_dir}},
      {"import", "take a folder as an image", "", {data_dir}},
      {"images", "list images", "-", {data_dir}},
      operator_shape(settings),
      scheduler_shape(),
      queue_shape(),
      install_shape(),
      {"validate", "check manifests", "", validate},
      {"explain", "show what a job means", "", explain},
      {"convert",
       "write a job in another dialect",
       "",
       {{"--to", "the dialect to write", "tfjob t9k volcano"}, filename}},
      {"sim",
       "run simulated worlds",
       "-",
       {{"--seed", "the first seed", ""},
        {"--count", "how many seeds", ""},
        {"--threads", "worlds at once", ""},
        {"--trace", "tell the story", "", true}}},
      {"completion", "print a completion script", "bash zsh fish", {}},
      {"version", "print the version", "-", {}},
  };
  std::vector<CommandShape> verbs = verb_shapes(settings);
  all.insert(all.end(), verbs.begin(), verbs.end());
  return all;
}

std::string command_words() {
  std::string words;
  for (const CommandShape& shape : shapes())
    words += fmt::format("{}{}", words.empty() ? "" : " ", shape.name);
  return words;
}

// "explain --output"|"explain -o", as bash looks the word before up.
std::string bash_pattern(const CommandShape& shape, const Option& option) {
  std::string text = fmt::format("\"{} {}\"", shape.name, option.name);
  std::string letter = letter_of(option);
  if (!letter.empty()) text += fmt::format("|\"{} {}\"", shape.name, letter);
  return text;
}

// What may follow an option that takes a value: its words, paths, or what only the user knows.
std::string bash_values(const CommandShape& shape) {
  std::string text;
  std::string unknown;
  for (const Option& option : shape.options) {
    if (option.flag) continue;
    std::string pattern = bash_pattern(shape, option);
    if (option.values.empty() && !takes_path(option)) {
      unknown += (unknown.empty() ? "" : "|") + pattern;
      continue;
    }
    std::string words = takes_path(option) ? "-f" : fmt::format("-W \"{}\"", option.values);
    text += fmt::format("    {}) COMPREPLY=($(compgen {} -- \"$word\")); return ;;\n", pattern, words);
  }
  return unknown.empty() ? text : text + fmt::format("    {}) return ;;\n", unknown);
}

std::string bash() {
  std::string text =
      "_trainyard() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" "
      "command=\"${COMP_WORDS[1]}\"\n"
      "  COMPREPLY=()\n";
  text += fmt::format(
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"$command $before\" in\n",
      command_words());
  for (const CommandShape& shape : shapes()) text += bash_values(shape);
  text += fmt::format(
      "  esac\n  case \"$command\" in\n    help) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")) ;;\n",
      command_words());
  for (const CommandShape& shape : shapes()) {
    std::string words = "--help";
    for (const Option& option : shape.options) words += fmt::format(" {}", option.name);
    if (!shape.words.empty() && shape.words != "-") words += fmt::format(" {}", shape.words);
    std::string files = shape.words.empty() ? " -f" : "";
    text +=
        fmt::format("    {}) COMPREPLY=($(compgen{} -W \"{}\" -- \"$word\")) ;;\n", shape.name, files, words);
  }
  return text + "  esac\n}\ncomplete -o filenames -F _trainyard trainyard\n";
}

// Either spelling is offered until the other is there.
std::string zsh_option(const Option& option) {
  std::string value = takes_path(option) ? ":value:_files" : fmt::format(":value:({})", option.values);
  if (option.flag) value.clear();
  std::string letter = letter_of(option);
  if (letter.empty()) return fmt::format(" '{}[{}]{}'", option.name, option.help, value);
  return fmt::format(" '({0}){1}[{2}]{3}' '({1}){0}[{2}]{3}'", letter, option.name, option.help, value);
}

std::string zsh() {
  std::string text =
      "#compdef trainyard\n\n"
      "_trainyard() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const CommandShape& shape : shapes()) text += fmt::format("    '{}:{}'\n", shape.name, shape.help);
  text +=
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      // What follows is told as if the command were a program of its own.
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n"
      "    help) _describe command commands ;;\n";
  for (const CommandShape& shape : shapes()) {
    text += fmt::format("    {}) _arguments '--help[print help]'", shape.name);
    for (const Option& option : shape.options) text += zsh_option(option);
    if (shape.words.empty()) text += " '*:path:_files'";
    if (!shape.words.empty() && shape.words != "-") text += fmt::format(" '1:word:({})'", shape.words);
    text += " ;;\n";
  }
  // Loaded by itself from $fpath this file is the function's first call; sourced it is told to zsh.
  return text +
         "  esac\n}\n\n"
         "if [[ ${funcstack[1]} == _trainyard ]]; then\n  _trainyard \"$@\"\n"
         "else\n  compdef _trainyard trainyard\nfi\n";
}

std::string fish() {
  std::string text = "complete -c trainyard -f\n";
  text +=
      fmt::format("complete -c trainyard -n '__fish_seen_subcommand_from help' -a '{}'\n", command_words());
  for (const CommandShape& shape : shapes()) {
    text +=
        fmt::format("complete -c trainyard -n __fish_use_subcommand -a {} -d '{}'\n", shape.name, shape.help);
    std::string when = fmt::format("complete -c trainyard -n '__fish_seen_subcommand_from {}'", shape.name);
    for (const Option& option : shape.options) {
      std::string value = takes_path(option) ? " -r -F" : " -x";
      if (!option.values.empty()) value += fmt::format(" -a '{}'", option.values);
      if (option.flag) value.clear();
      std::string letter = letter_of(option);
      if (!letter.empty()) letter = fmt::format(" -s {}", letter.substr(1));
      text += fmt::format("{}{} -l {}{} -d '{}'\n", when, letter, option.name.substr(2), value, option.help);
    }
    if (shape.words.empty()) text += when + " -F\n";
    if (!shape.words.empty() && shape.words != "-") text += fmt::format("{} -a '{}'\n", when, shape.words);
  }
  return text;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  return bash();
}

}  // namespace trainyard::cli
