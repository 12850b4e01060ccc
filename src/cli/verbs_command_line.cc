#include "cli/verbs_command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "base/ascii.h"
#include "cli/command_line_plane.h"
#include "cli/output_table.h"
#include "cli/verbs_find.h"
#include "cli/whole_number.h"

namespace trainyard::cli {

// What CLI11 fills in.
struct VerbCommands::Raw {
  Target target;
  std::vector<std::string> words;
  std::vector<std::string> command;  // behind "--"
  std::vector<std::string> paths;
  std::string replica;
  std::string role;
  std::optional<int> index;
  std::string container;
  std::string output;
  std::string selector;
  std::string goal = "finished";
  std::string timeout;
  std::string since;
  std::optional<int64_t> tail;
  int64_t back = 0;
  bool watch = false;
  bool all = false;
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  bool wait = false;
  bool in = false;
  bool tty = false;
  dialect::Settings settings;

  void add_target(CLI::App& command_app);
  void add_job(CLI::App& command_app);
  void add_jobs(CLI::App& command_app, bool required);
  void add_replica(CLI::App& command_app);
  void add_submit(CLI::App& app);
  void add_get(CLI::App& app);
  void add_describe(CLI::App& app);
  void add_logs(CLI::App& app);
  void add_pause_and_resume(CLI::App& app);
  void add_scale(CLI::App& app);
  void add_delete(CLI::App& app);
  void add_wait(CLI::App& app);
  void add_top_and_events(CLI::App& app);
  void add_exec(CLI::App& app);
};

namespace {

constexpr const char* kJobHelp = "A job: NAME, tfjob/NAME, tft/NAME or vcjob/NAME";

// kubectl's condition=Succeeded, and Volcano's and Kubeflow's words for the same.
std::string as_goal(std::string word) {
  constexpr std::string_view kCondition = "condition=";
  if (word.starts_with(kCondition)) word.erase(0, kCondition.size());
  word = lower_case(word);
  if (word == "suspended" || word == "aborted") return "paused";
  return word == "completed" || word == "complete" ? "succeeded" : word;
}

}  // namespace

void VerbCommands::Raw::add_target(CLI::App& command_app) {
  command_app.add_option("--kubeconfig", target.kubeconfig, "The kubeconfig that leads to the cluster");
  command_app.add_option("--context", target.context, "The context of the kubeconfig");
  command_app.add_option("--data-dir", target.data_dir, "The folder of the embedded plane");
  command_app.add_option("-n,--namespace", target.ns, "The namespace to look in");
}

void VerbCommands::Raw::add_job(CLI::App& command_app) {
  // Two, for a kind before the name.
  command_app.add_option("JOB", words, kJobHelp)->required()->expected(1, 2)->type_name("");
  add_target(command_app);
}

void VerbCommands::Raw::add_jobs(CLI::App& command_app, bool required) {
  command_app.add_option("JOB", words, kJobHelp)->required(required)->type_name("");
  add_target(command_app);
}

void VerbCommands::Raw::add_replica(CLI::App& command_app) {
  command_app.add_option("-r,--replica", replica, "Only this replica, such as worker-1");
  command_app.add_option("--role", role, "Only replicas of this role, such as worker");
  command_app.add_option("--index", index, "Only the replica of this index")->check(whole_number());
  command_app.add_option("-c,--container", container, "The container; the one that trains by default");
}

void VerbCommands::Raw::add_submit(CLI::App& app) {
  CLI::App* command_app = app.add_subcommand("submit", "Create jobs, and what else the files hold");
  add_paths(*command_app, paths);
  add_target(*command_app);
  add_settings(*command_app, settings);
  command_app->footer(
      "Everything is checked before anything is created.\n\n"
      "Examples:\n"
      "  trainyard submit -f job.yaml\n"
      "  trainyard submit --context lab -n team -f job.yaml -f data.yaml");
}

void VerbCommands::Raw::add_get(CLI::App& app) {
  CLI::App* command_app = app.add_subcommand("get", "List jobs");
  command_app
      ->add_option(
          "WORDS", words,
          "[KIND] [NAME...]; KIND is tfjob, tft or tj (TensorFlowTrainingJob), vcjob (Volcano) or all-jobs")
      ->type_name("");
  command_app->add_option("-o,--output", output, "wide, yaml, json or name")
      ->check(CLI::IsMember({"wide", "yaml", "json", "name"}));
  command_app->add_flag("-w,--watch", watch, "Go on and print what changes");
  command_app->add_option("--timeout", timeout, "Stop watching after this long, such as 5m");
  command_app->add_option("-l,--selector", selector, "Only jobs with these labels, such as team=a");
  command_app->add_flag("-A,--all-namespaces", target.all_namespaces, "In all namespaces");
  add_target(*command_app);
  command_app->footer(
      "Examples:\n"
      "  trainyard get\n"
      "  trainyard get tfjobs -A -o wide\n"
      "  trainyard get mnist -w\n"
      "  trainyard get vcjob/mnist -o yaml");
}

void VerbCommands::Raw::add_describe(CLI::App& app) {
  CLI::App* command_app = app.add_subcommand(
      "describe", "Tell everything about a job: replicas, restarts, conditions, events, why it waits");
  add_jobs(*command_app, true);
  command_app->footer(
      "Examples:\n"
      "  trainyard describe mnist\n"
      "  trainyard describe -n team tfjob/mnist");
}

void VerbCommands::Raw::add_logs(CLI::App& app) {
  CLI::App* command_app = app.add_subcommand("logs", "Print what the replicas of a job print");
  add_job(*command_app);
  add_replica(*command_app);
  command_app->add_flag("--all", all, "Of all replicas, each line with its replica");
  command_app->add_flag("-f,--follow", follow, "Go on until the job is done, through restarts");
  command_app->add_flag("-p,--previous", previous, "Of the run before the last");
  command_app->add_option("--back", back, "Of a run so many before the last, where a plane keeps it")
      ->check(whole_number());
  command_app->add_flag("--timestamps", timestamps, "With the time of each line");
  command_app->add_option("--tail", tail, "Only so many of the last lines")->check(whole_number());
  command_app->add_option("--since", since, "Only the lines of this last while, such as 10m");
  command_app->footer(
      "Without --role or --all: of the replica whose end decides the job (chief, else worker 0).\n"
      "The embedded plane keeps logs of pods and jobs that are gone (see --log-days and --log-megabytes\n"
      "of 'trainyard up'): JOB may be one that was deleted. NAME or pod/NAME of a pod is taken too.\n\n"
      "Examples:\n"
      "  trainyard logs mnist -f\n"
      "  trainyard logs mnist --all --tail 20\n"
      "  trainyard logs mnist -r worker-1 --previous");
}

void VerbCommands::Raw::add_pause_and_resume(CLI::App& app) {
  CLI::App* pause = app.add_subcommand("pause", "Stop jobs so that they can be resumed");
  add_jobs(*pause, true);
  pause->footer(
      "A TFJob is suspended, a TensorFlowTrainingJob paused by its run mode, a Volcano Job aborted.\n\n"
      "Examples:\n"
      "  trainyard pause mnist\n"
      "  trainyard pause vcjob/mnist tfjob/other");
  CLI::App* resume = app.add_subcommand("resume", "Go on with jobs that were paused");
  add_jobs(*resume, true);
  resume->footer(
      "Examples:\n"
      "  trainyard resume mnist");
}

void VerbCommands::Raw::add_scale(CLI::App& app) {
  CLI::App* command_app = app.add_subcommand("scale", "Give roles of a job another number of replicas");
  command_app->add_option("JOB", words, "The job, then ROLE=N for each role")->required()->type_name("");
  add_target(*command_app);
  command_app->footer(
      "Examples:\n"
      "  trainyard scale mnist worker=4\n"
      "  trainyard scale vcjob/mnist worker=4 ps=2");
}

void VerbCommands::Raw::add_delete(CLI::App& app) {
  CLI::App* command_app = app.add_subcommand("delete", "Delete jobs and all that belongs to them");
  add_jobs(*command_app, true);
  command_app->add_flag("--wait", wait, "Until they and their pods are gone");
  command_app->add_option("--timeout", timeout, "Wait at most this long, such as 2m");
  command_app->footer(
      "Exit status: 0 deleted (and gone), 1 not, 3 not gone in time.\n\n"
      "Examples:\n"
      "  trainyard delete mnist\n"
      "  trainyard delete tfjob/a vcjob/b --wait --timeout 2m");
}

void VerbCommands::Raw::add_wait(CLI::App& app) {
  CLI::App* command_app = app.add_subcommand("wait", "Wait for a job");
  add_job(*command_app);
  command_app->add_option("--for", goal, "succeeded, failed, finished, running or paused")
      ->capture_default_str()
      ->transform(as_goal)
      ->check(CLI::IsMember({"succeeded", "failed", "finished", "running", "paused"}));
  command_app->add_option("--timeout", timeout, "At most this long, such as 30m; for ever by default");
  command_app->footer(
      "Exit status: 0 it is so, 1 it never will be, 3 it was not in time.\n\n"
      "Examples:\n"
      "  trainyard wait mnist --for=succeeded --timeout 1h\n"
      "  trainyard wait mnist --for running && trainyard logs mnist -f");
}

void VerbCommands::Raw::add_top_and_events(CLI::App& app) {
  CLI::App* top = app.add_subcommand("top", "Show what running replicas use");
  add_jobs(*top, false);
  top->add_flag("-A,--all-namespaces", target.all_namespaces, "In all namespaces");
  top->footer(
      "Examples:\n"
      "  trainyard top\n"
      "  trainyard top mnist");
  CLI::App* events = app.add_subcommand("events", "Show what happened to a job and its pods");
  add_jobs(*events, false);
  events->footer(
      "Without a job: all events of the namespace.\n\n"
      "Examples:\n"
      "  trainyard events\n"
      "  trainyard events mnist");
}

void VerbCommands::Raw::add_exec(CLI::App& app) {
  CLI::App* command_app = app.add_subcommand("exec", "Run a command inside a replica");
  // Several are taken, so that whoever forgets the -- is told of it.
  command_app->add_option("JOB", words, "A job, or a pod; then -- and the command")
      ->required()
      ->expected(-1)
      ->type_name("");
  add_target(*command_app);
  add_replica(*command_app);
  command_app->add_flag("-i,--stdin", in, "Hand standard input on");
  command_app->add_flag("-t,--tty", tty, "Give it a terminal");
  command_app->footer(
      "The exit status is the command's own.\n\n"
      "Examples:\n"
      "  trainyard exec mnist -- nvidia-smi\n"
      "  trainyard exec mnist --role worker --index 1 -it -- bash");
}

VerbCommands::VerbCommands() : raw_(std::make_unique<Raw>()) {}
VerbCommands::~VerbCommands() = default;

void VerbCommands::describe(CLI::App& app) {
  raw_->add_submit(app);
  raw_->add_get(app);
  raw_->add_describe(app);
  raw_->add_logs(app);
  raw_->add_pause_and_resume(app);
  raw_->add_scale(app);
  raw_->add_delete(app);
  raw_->add_wait(app);
  raw_->add_top_and_events(app);
  raw_->add_exec(app);
}

std::vector<std::string> VerbCommands::take_command(const std::vector<std::string>& arguments) {
  auto end = arguments.end();
  if (!arguments.empty() && arguments[0] == "exec") end = std::find(arguments.begin(), arguments.end(), "--");
  if (end != arguments.end()) raw_->command.assign(end + 1, arguments.end());
  return {arguments.begin(), end};
}

const std::vector<std::string_view>& VerbCommands::names() {
  static const std::vector<std::string_view> kNames = {"submit", "get",    "describe", "logs",
                                                       "pause",  "resume", "scale",    "delete",
                                                       "wait",   "top",    "events",   "exec"};
  return kNames;
}

namespace {

using Read = std::variant<OnCluster, Misused>;

// The duration an option holds: "" is none. False when it is no duration.
bool duration_of(const std::string& text, std::optional<Duration>& duration) {
  if (text.empty()) return true;
  duration = read_duration(text);
  return duration.has_value();
}

Misused no_duration(std::string_view option, const std::string& text) {
  return {fmt::format("{}: '{}' is not a duration such as 90s, 5m or 1h30m\n", option, text)};
}

// "worker-1"; a role may have dashes of its own.
std::optional<ReplicaChoice> replica_named(const std::string& text) {
  size_t dash = text.rfind('-');
  if (dash == std::string::npos || dash == 0) return std::nullopt;
  int index = 0;
  const char* last = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data() + dash + 1, last, index);
  if (error != std::errc() || end != last || index < 0) return std::nullopt;
  return ReplicaChoice{text.substr(0, dash), index};
}

ListForm form_of(const std::string& output) {
  if (output == "wide") return ListForm::kWide;
  if (output == "yaml") return ListForm::kYaml;
  if (output == "json") return ListForm::kJson;
  return output == "name" ? ListForm::kName : ListForm::kTable;
}

Goal goal_of(const std::string& word) {
  if (word == "succeeded") return Goal::kSucceeded;
  if (word == "failed") return Goal::kFailed;
  if (word == "running") return Goal::kRunning;
  return word == "paused" ? Goal::kPaused : Goal::kFinished;
}

// ROLE=N.
std::optional<std::pair<std::string, int>> role_count_of(const std::string& word) {
  size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  int count = 0;
  const char* end = word.data() + word.size();
  auto [rest, failed] = std::from_chars(word.data() + equals + 1, end, count);
  if (failed != std::errc() || rest != end || count < 0) return std::nullopt;
  return std::pair(word.substr(0, equals), count);
}

Read scale_of(const Target& target, const std::vector<std::string>& words) {
  if (role_count_of(words.at(0)))
    return Misused{"no job was named: trainyard scale JOB ROLE=N, such as worker=4\n"};
  if (words.size() < 2) return Misused{"no size was given: trainyard scale JOB ROLE=N, such as worker=4\n"};
  ScaleJob scale{words.at(0), {}};
  for (size_t i = 1; i < words.size(); ++i) {
    std::optional<std::pair<std::string, int>> role = role_count_of(words[i]);
    if (!role) return Misused{fmt::format("'{}' is not ROLE=N, such as worker=4\n", words[i])};
    scale.roles.push_back(*role);
  }
  return OnCluster{target, scale};
}

Read exec_of(const Target& target, ExecIn exec, const std::vector<std::string>& words) {
  if (words.size() > 1) {
    return Misused{fmt::format("'{1}': the command goes after --: trainyard exec {0} -- {1}\n", words[0],
                               fmt::join(words.begin() + 1, words.end(), " "))};
  }
  if (exec.command.empty()) return Misused{"no command was given: trainyard exec JOB -- COMMAND\n"};
  return OnCluster{target, std::move(exec)};
}

}  // namespace

std::optional<std::variant<OnCluster, Misused>> VerbCommands::read(std::string_view name) const {
  const Raw& raw = *raw_;
  const Target& target = raw.target;
  const std::vector<std::string> jobs = with_kinds(raw.words);
  const bool takes_one = name == "logs" || name == "wait";
  if (takes_one && jobs.size() > 1) {
    return Read(Misused{fmt::format("'{}' was not expected: {} takes one job\n", jobs[1], name)});
  }
  auto verb = [&](Verb v) { return std::optional<Read>(OnCluster{target, std::move(v)}); };
  std::optional<Duration> timeout;
  std::optional<Duration> since;
  if (!duration_of(raw.timeout, timeout)) return no_duration("--timeout", raw.timeout);
  if (!duration_of(raw.since, since)) return no_duration("--since", raw.since);
  ReplicaChoice replicas{raw.role, raw.index};
  if (!raw.replica.empty()) {
    std::optional<ReplicaChoice> one = replica_named(raw.replica);
    if (!one) return Read(Misused{fmt::format("--replica '{}': such as worker-1 is wanted\n", raw.replica)});
    replicas = *one;
  }
  if (name == "submit") return verb(Submit{raw.paths, raw.settings});
  if (name == "get") return verb(GetJobs{raw.words, form_of(raw.output), raw.watch, timeout, raw.selector});
  if (name == "describe") return verb(DescribeJobs{jobs});
  if (name == "logs") {
    bool chosen = !replicas.role.empty() || replicas.index.has_value();
    return verb(ShowLogs{jobs.at(0), replicas, raw.all || chosen, raw.container, raw.follow, raw.previous,
                         raw.timestamps, raw.tail, since, raw.back});
  }
  if (name == "pause") return verb(PauseJobs{jobs});
  if (name == "resume") return verb(ResumeJobs{jobs});
  if (name == "scale") return scale_of(target, jobs);
  if (name == "delete") return verb(DeleteJobs{jobs, raw.wait, timeout});
  if (name == "wait") return verb(WaitForJob{jobs.at(0), goal_of(raw.goal), timeout});
  if (name == "top") return verb(TopJobs{jobs});
  if (name == "events") return verb(ShowEvents{jobs});
  if (name == "exec") {
    return exec_of(target, {raw.words.at(0), replicas, raw.container, raw.in, raw.tty, raw.command},
                   raw.words);
  }
  return std::nullopt;
}

}  // namespace trainyard::cli
