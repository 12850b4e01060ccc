#include "cli/command_line_operator.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <sstream>

#include "cli/command_line_plane.h"
#include "cli/operator_config.h"
#include "cli/service_flags.h"

namespace trainyard::cli {

struct OperatorCommands::Raw {
  OperatorCommand command;
  CLI::App* app = nullptr;
  std::string config;
  std::vector<std::string> schemes;
  bool gang = false;
  ServiceFlags flags;
  bool json_logs = false;
  std::string events = "combined";
  int monitoring_port = 0;
  bool version = false;
  std::string ignored;
};

namespace {

// Flags of Kubeflow's operator that have no meaning here; taken, so that a Deployment with
// them starts, and told in the log.
struct IgnoredFlag {
  std::string_view name;
  std::string_view why;
};
constexpr IgnoredFlag kIgnoredFlags[] = {
    {"kube-api-qps", "requests are bounded by --connections and by the server's own limits"},
    {"kube-api-burst", "requests are bounded by --connections and by the server's own limits"},
    {"qps", "requests are bounded by --connections and by the server's own limits"},
    {"burst", "requests are bounded by --connections and by the server's own limits"},
    {"webhook-server-port", "there is no webhook: the CRDs carry their rules"},
    {"webhook-service-name", "there is no webhook: the CRDs carry their rules"},
    {"webhook-secret-name", "there is no webhook: the CRDs carry their rules"},
    {"pytorch-init-container-image", "TensorFlow jobs only"},
    {"pytorch-init-container-template-file", "TensorFlow jobs only"},
    {"pytorch-init-container-max-tries", "TensorFlow jobs only"},
    {"mpi-kubectl-delivery-image", "TensorFlow jobs only"},
    {"resyc-period", "nothing is resynchronised by the clock"},
    {"zap-stacktrace-level", "there are no stack traces in the log"},
    {"zap-time-encoding", "times are RFC 3339"},
    {"v", "--log-level says how much is told"},
    {"vmodule", "--log-level says how much is told"},
    {"stderrthreshold", "the log goes to standard error"},
    {"log_dir", "the log goes to standard error"},
    {"log_backtrace_at", "there are no stack traces in the log"},
};
// Those that are said alone.
constexpr std::string_view kNeedlessFlags[] = {"zap-devel", "logtostderr", "alsologtostderr"};

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// A kind as --enable-scheme takes it, to the dialect's name; "" for kinds of Kubeflow's that
// are not ours; nullopt for what nobody knows.
std::optional<std::string> dialect_of_scheme(const std::string& scheme) {
  std::string kind = lower_case(scheme);
  if (kind == "tfjob") return "tfjob";
  if (kind == "t9k" || kind == "tensorflowtrainingjob") return "t9k";
  if (kind == "volcano" || kind == "vcjob") return "volcano";
  for (std::string_view other : {"pytorchjob", "mpijob", "xgboostjob", "paddlejob", "mxjob", "jaxjob"}) {
    if (kind == other) return "";
  }
  return std::nullopt;
}

std::optional<std::string> choose_dialects(OperatorCommand& command,
                                           const std::vector<std::string>& schemes) {
  if (!schemes.empty()) command.dialects.clear();
  for (const std::string& scheme : schemes) {
    std::optional<std::string> name = dialect_of_scheme(scheme);
    if (!name) return fmt::format("--enable-scheme: '{}' is none of tfjob, t9k, volcano", scheme);
    if (name->empty())
      command.notes.push_back(fmt::format("--enable-scheme={}: not run by Trainyard", scheme));
    bool has = std::find(command.dialects.begin(), command.dialects.end(), *name) != command.dialects.end();
    if (!name->empty() && !has) command.dialects.push_back(*name);
  }
  bool volcano =
      std::find(command.dialects.begin(), command.dialects.end(), "volcano") != command.dialects.end();
  if (volcano && !command.own_volcano_jobs) {
    return "--enable-scheme=volcano needs --own-volcano-jobs: Volcano Jobs belong to Volcano's controller "
           "where it runs";
  }
  if (command.own_volcano_jobs && !volcano) command.dialects.push_back("volcano");
  if (command.dialects.empty()) return "--enable-scheme: nothing is left to do";
  return std::nullopt;
}

void add_where(CLI::App& app, OperatorCommand& command) {
  ServiceFlags::add_cluster(app, command);
  app.add_option("-n,--namespace", command.namespaces,
                 "Look after jobs of this namespace alone; several times or with commas for several")
      ->delimiter(',');
  ServiceFlags::add_lease(app, command, "operators");
}

void add_jobs(CLI::App& app, OperatorCommand& command, std::vector<std::string>& schemes, bool& gang) {
  app.add_option("--enable-scheme", schemes,
                 "The kinds of jobs to look after: tfjob, t9k, volcano; by default tfjob and t9k")
      ->delimiter(',');
  app.add_flag(
      "--own-volcano-jobs", command.own_volcano_jobs,
      "Look after Volcano Jobs too, unless Volcano's own controller runs in the cluster; it is looked for "
      "at the start and every minute");
  app.add_flag("--enable-gang-scheduling", gang,
               "Make PodGroups for TFJobs; with =false --gang-scheduler-name counts for nothing");
  add_settings(app, command.settings);
  app.add_flag(
      "--one-service-per-job", command.settings.one_service_per_job,
      "One headless Service per TFJob instead of one per replica: half the writes. For jobs that are "
      "created from now on");
  app.add_option("--workers,--controller-threads,--threadiness", command.workers,
                 "How many jobs are worked on at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  ServiceFlags::add_connections(app, command, "How many requests are under way at once, watches aside");
}

}  // namespace

OperatorCommands::OperatorCommands() : raw_(std::make_unique<Raw>()) {}
OperatorCommands::~OperatorCommands() = default;

void OperatorCommands::describe(CLI::App& app) {
  CLI::App* command = app.add_subcommand("operator", "Look after the jobs of a Kubernetes cluster");
  raw_->app = command;
  command->add_option("--config", raw_->config,
                      "A YAML file with these flags, without their dashes; the command line counts for more");
  add_where(*command, raw_->command);
  add_jobs(*command, raw_->command, raw_->schemes, raw_->gang);
  command
      ->add_option("--events", raw_->events,
                   "combined: what happens to several replicas at once is one Event; each: one for each")
      ->capture_default_str()
      ->check(CLI::IsMember({"combined", "each"}));
  raw_->flags.add_outlook(*command, raw_->command);
  command->add_flag("--json-log-format", raw_->json_logs)->group("");
  command->add_option("--monitoring-port", raw_->monitoring_port)->check(CLI::Range(0, 65535))->group("");
  for (std::string_view flag : kNeedlessFlags) command->add_flag(fmt::format("--{}", flag))->group("");
  command->add_flag("--version", raw_->version)->group("");
  for (const IgnoredFlag& flag : kIgnoredFlags) {
    command->add_option("--" + std::string(flag.name), raw_->ignored)->group("");
  }
  command->footer(
      "Flags of Kubeflow's training-operator and tf-operator are understood; those that mean nothing here "
      "are "
      "named in the log.\n"
      "SIGTERM ends it: what is under way is finished and the Lease handed over.\n\n"
      "Examples:\n"
      "  trainyard operator --kubeconfig ~/.kube/config\n"
      "  trainyard operator --namespace team-a,team-b --log-format json\n"
      "  trainyard operator --enable-scheme tfjob --gang-scheduler-name volcano\n"
      "  trainyard operator --config /etc/trainyard/operator.yaml");
}

namespace {

// The names that a config file may use, as CLI11 knows them.
std::vector<std::string_view> flag_names(const CLI::App& app) {
  std::vector<std::string_view> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (name != "help" && name != "config" && name != "version") names.push_back(name);
    }
  }
  return names;
}

// Names that older operators had for what another flag says as well.
struct OtherWord {
  std::string_view name;
  std::string_view of;
};
constexpr OtherWord kOtherWords[] = {{"monitoring-port", "--metrics-bind-address"},
                                     {"json-log-format", "--log-format"},
                                     {"enable-gang-scheduling", "--gang-scheduler-name"}};

// Whether the command line says it in other words.
bool is_said_otherwise(const CLI::App& app, std::string_view name) {
  return std::any_of(std::begin(kOtherWords), std::end(kOtherWords), [&](const OtherWord& word) {
    return word.name == name && app.get_option(std::string(word.of))->count() > 0;
  });
}

// Takes over what the command line leaves open. What is wrong, if anything.
std::optional<std::string> read_config(CLI::App& app, const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return fmt::format("cannot read {}", path);
  Result<std::vector<ConfigEntry>> entries = read_operator_config(path, text.str(), flag_names(app));
  if (!entries.ok()) return entries.error().message;
  std::vector<ConfigEntry> open = std::move(entries).value();
  std::erase_if(open, [&](const ConfigEntry& entry) { return is_said_otherwise(app, entry.name); });
  for (const ConfigEntry& entry : open) {
    CLI::Option* option = app.get_option("--" + entry.name);
    if (option->count() > 0) continue;
    const bool is_flag = option->get_expected_min() == 0;  // some are denied by a name of their own
    try {
      for (const std::string& value : entry.values) {
        option->add_result(is_flag ? option->get_flag_value(entry.name, value) : value);
      }
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      return fmt::format("{}:{}: {}", path, entry.line, error.what());
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> OperatorCommands::as_we_write(std::vector<std::string> words) const {
  if (words.empty() || words[0] != "operator") return words;
  auto is_ours = [&](std::string_view name) {
    return raw_->app->get_option_no_throw(fmt::format("--{}", name)) != nullptr;
  };
  std::vector<std::string> ours{words[0]};
  for (size_t i = 1; i < words.size(); ++i) {
    std::string word = std::move(words[i]);
    const size_t end = std::min(word.find('='), word.size());
    if (word.starts_with("-") && is_ours(word.substr(1, end - 1))) word.insert(0, 1, '-');
    const bool is_empty = word.starts_with("--") && word.ends_with("=") && word.find('=') == word.size() - 1;
    if (is_empty) word.pop_back();
    ours.push_back(std::move(word));
    if (is_empty) ours.emplace_back();
  }
  return ours;
}

std::optional<Command> OperatorCommands::read(std::string_view name) const {
  if (name != "operator") return std::nullopt;
  if (raw_->version) return Version{};
  CLI::App& app = *raw_->app;
  auto misused = [](const std::string& why) {
    return Misused{why + "\nRun 'trainyard operator --help' for help.\n"};
  };
  if (!raw_->config.empty()) {
    if (std::optional<std::string> wrong = read_config(app, raw_->config)) return misused(*wrong);
  }
  OperatorCommand command = raw_->command;
  if (std::optional<std::string> wrong = choose_dialects(command, raw_->schemes)) return misused(*wrong);
  std::string& gang = command.settings.gang_scheduler;
  bool gang_said = app.get_option("--enable-gang-scheduling")->count() > 0;
  if (gang == "none" || (gang_said && !raw_->gang)) gang.clear();
  if (gang_said && raw_->gang && gang.empty()) gang = "volcano";
  if (raw_->monitoring_port != 0) command.metrics_address = fmt::format(":{}", raw_->monitoring_port);
  command.each_event = raw_->events == "each";
  raw_->flags.read(command);
  if (raw_->json_logs) command.log_form = LogForm::kJson;
  for (const IgnoredFlag& flag : kIgnoredFlags) {
    if (app.get_option("--" + std::string(flag.name))->count() == 0) continue;
    command.notes.push_back(fmt::format("--{} has no effect: {}", flag.name, flag.why));
  }
  return command;
}

}  // namespace trainyard::cli
