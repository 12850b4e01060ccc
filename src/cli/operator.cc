#include "cli/operator.h"

#include <fmt/format.h>
#include <malloc.h>

#include <cstdlib>

#include "cli/complain.h"
#include "cli/dialects.h"
#include "cli/interrupts.h"
#include "cli/keys.h"
#include "cli/operator_http.h"
#include "cli/operator_log.h"
#include "cli/operator_report.h"
#include "cli/plane.h"
#include "cli/service_clients.h"
#include "cli/volcano_controller.h"
#include "control/event_queue.h"
#include "control/loop.h"
#include "control/operator.h"
#include "control/retry.h"
#include "control/tensorboard.h"
#include "dialect/shared/gang.h"
#include "kube/access.h"

namespace trainyard::cli {
namespace {

constexpr int kArenas = 4;  // of the allocator
constexpr Duration kGather{50};
constexpr Duration kGatherBusy{2'000};
constexpr Duration kLookEvery{60'000};
constexpr Duration kEventsPatience{5'000};
constexpr int kLargeBytes = 128 * 1024;

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Without keys there is no secret to be made, and nobody to ask for others.
dialect::KeyPair keys_for_secrets() {
  Result<dialect::KeyPair> keys = make_key_pair();
  CHECK(keys.ok());
  return std::move(keys).value();
}

// The kinds around jobs that jobs of these dialects may need.
std::vector<kube::Resource> kinds_around(const OperatorCommand& command, bool t9k, bool volcano) {
  std::vector<kube::Resource> around;
  if (volcano) around = control::resources_around();
  auto add = [&](const kube::Resource& resource) {
    if (std::find(around.begin(), around.end(), resource) == around.end()) around.push_back(resource);
  };
  for (model::GangScheduler scheduler : {model::GangScheduler::kVolcano, model::GangScheduler::kKubeBatch,
                                         model::GangScheduler::kCoscheduling, model::GangScheduler::kT9k}) {
    if (!command.settings.gang_scheduler.empty()) add(dialect::resource_of(scheduler));
  }
  if (command.settings.one_service_per_job) add(kube::kServices);
  if (t9k) add(dialect::resource_of(model::GangScheduler::kT9k));
  if (t9k) add(kube::kTensorBoards);
  return around;
}

// Everything an operator consists of, in the order in which it must go away, last first.
class Run {
 public:
  Run(const OperatorCommand& command, const Console& console)
      : command_(command), log_(console.err, command.log_form, command.log_level) {}

  // Nothing when it is to be started again, for what it looks after has changed.
  std::optional<int> serve();

 private:
  Result<Done> connect();
  VolcanoController look_for_volcano();
  std::vector<std::string> namespaces() const;
  std::vector<dialect::Dialect> choose_dialects();
  void make_operator();
  void keep_boards(std::vector<std::string> namespaces);
  Result<Done> listen();
  Page answer(std::string_view path, bool metrics, bool health);

  const OperatorCommand& command_;
  Log log_;
  std::optional<VolcanoController> volcano_;  // as it was found at the start; none: nobody asked
  control::OperatorMetrics metrics_;
  ServiceClients clients_;
  std::unique_ptr<control::EventQueue> events_;
  std::unique_ptr<OperatorReport> report_;
  std::unique_ptr<control::Operator> operator_;
  std::unique_ptr<control::Loop> loop_;
  std::unique_ptr<control::Workers> workers_;
  // One of each for every namespace, or one for all of them.
  std::vector<std::unique_ptr<control::BoardKeeper>> boards_;
  std::vector<std::unique_ptr<control::Loop>> board_loops_;
  std::vector<std::unique_ptr<OperatorHttp>> listeners_;
};

Result<Done> Run::connect() {
  client::HttpOptions options;
  options.requests_max = command_.connections;
  options.idle_connections_max = command_.connections;
  options.user_agent = "trainyard-operator";
  options.on_answer = [this](std::string_view verb, std::string_view resource, int status, Duration took) {
    metrics_.answered(verb, resource, status, took);
  };
  // What is told of may be told by who led when it was done.
  options.may_write = [this](std::string_view resource) {
    return resource == kube::kEvents.plural || operator_->leads();
  };
  Result<ServiceClients> made = connect_service(command_, std::move(options));
  if (!made.ok()) return made.error();
  clients_ = std::move(made).value();
  const client::Access& access = clients_.work->access();
  log_.say(LogLevel::kInfo, "trainyard operator", {{"cluster", access.where}, {"server", access.server}});
  return Done{};
}

VolcanoController Run::look_for_volcano() {
  Result<std::string> pod = find_volcano_controller(*clients_.work, namespaces());
  if (!pod.ok()) {
    if (!volcano_) {
      log_.say(LogLevel::kError, "cannot tell whether Volcano's controller runs, so its Jobs are left alone",
               {{"error", pod.error().message}});
    }
    return VolcanoController::kUnknown;
  }
  if (pod->empty()) return VolcanoController::kAbsent;
  if (volcano_ != VolcanoController::kRuns) {
    log_.say(LogLevel::kWarning, "Volcano's own controller runs, so its Jobs are left to it",
             {{"pod", *pod}});
  }
  return VolcanoController::kRuns;
}

// The namespaces that are looked after; none for all.
std::vector<std::string> Run::namespaces() const {
  std::string kubeflow_ns = environment_value("KUBEFLOW_NAMESPACE");
  if (command_.namespaces.empty() && !kubeflow_ns.empty()) return {kubeflow_ns};
  return command_.namespaces;
}

std::vector<dialect::Dialect> Run::choose_dialects() {
  std::vector<dialect::Dialect> chosen;
  for (const std::string& name : command_.dialects) {
    if (name == "volcano") {
      volcano_ = look_for_volcano();
      if (*volcano_ != VolcanoController::kAbsent) continue;
    }
    chosen.push_back(dialect_named(name));
  }
  return chosen;
}

void Run::make_operator() {
  std::vector<dialect::Dialect> dialects = choose_dialects();
  auto chosen = [&](std::string_view name) {
    return std::any_of(dialects.begin(), dialects.end(),
                       [&](const dialect::Dialect& dialect) { return dialect.name == name; });
  };
  control::OperatorOptions options;
  options.settings = command_.settings;
  if (options.settings.cluster_domain.empty()) {
    options.settings.cluster_domain = environment_value("CUSTOM_CLUSTER_DOMAIN");
  }
  options.around = kinds_around(command_, chosen("t9k"), chosen("volcano"));
  options.namespaces = namespaces();
  options.gather = kGather;
  options.gather_busy = kGatherBusy;
  options.elects_leader = command_.leader_elect;
  options.identity = command_.identity.empty() ? service_identity() : command_.identity;
  options.lease_name = command_.lease_name;
  options.lease_ns = lease_namespace(command_.lease_ns, *clients_.work);

  std::string kinds;
  for (const dialect::Dialect& dialect : dialects) kinds += fmt::format("{} ", dialect.resource.kind);
  std::string places;
  for (const std::string& ns : options.namespaces) places += fmt::format("{} ", ns.empty() ? "*" : ns);
  log_.say(
      LogLevel::kInfo, "looking after jobs",
      {{"kinds", kinds},
       {"namespaces", places.empty() ? "*" : places},
       {"lease", options.elects_leader ? fmt::format("{}/{}", options.lease_ns, options.lease_name) : "none"},
       {"identity", options.identity}});

  workers_ = std::make_unique<control::Workers>(command_.workers);
  control::EventQueueOptions event_options;
  event_options.combine = !command_.each_event;
  event_options.busy = [this] { return workers_->busy(); };
  events_ = std::make_unique<control::EventQueue>(*clients_.work, wall_clock, event_options);
  control::OperatorPorts ports{*clients_.work, keys_for_secrets, wall_clock};
  ports.uptime = uptime;
  ports.workers = workers_.get();
  ports.lease_client = clients_.lease.get();
  ports.events = events_.get();
  int streams =
      static_cast<int>(control::make_view(dialects, options.around, options.namespaces).streams.size());
  report_ = std::make_unique<OperatorReport>(log_, metrics_, dialects, streams);
  ports.observer = report_.get();
  bool elects = options.elects_leader;
  if (chosen("t9k")) keep_boards(options.namespaces);
  operator_ = std::make_unique<control::Operator>(std::move(ports), std::move(dialects), std::move(options));
  if (!elects) report_->leads(true);
  loop_ =
      std::make_unique<control::Loop>(*operator_, *clients_.work, *clients_.work, wall_clock, workers_.get());
}

// TensorBoards belong to the dialect that asks for them. REQUIRES: nothing of them runs before operator_ is
// there.
void Run::keep_boards(std::vector<std::string> namespaces) {
  if (namespaces.empty()) namespaces.push_back("");
  for (std::string& ns : namespaces) {
    auto trouble = [this](const client::ObjectKey& board, const Error& error) {
      const bool usual = control::retry_for(error.kind) == control::Retry::kNow;
      log_.say(usual ? LogLevel::kDebug : LogLevel::kWarning,
               "a TensorBoard could not be looked after; it is tried again",
               {{"tensorboard", fmt::format("{}/{}", board.ns, board.name)}, {"error", error.message}});
    };
    control::BoardOptions options{
        {}, std::move(ns), [this] { return operator_->leads(); }, std::move(trouble)};
    boards_.push_back(std::make_unique<control::BoardKeeper>(*clients_.work, std::move(options)));
    board_loops_.push_back(
        std::make_unique<control::Loop>(*boards_.back(), *clients_.work, *clients_.work, wall_clock));
  }
}

Page Run::answer(std::string_view path, bool metrics, bool health) {
  if (health && (path == "/healthz" || path == "/livez")) return {200, "ok\n"};
  if (health && path == "/readyz") return report_->ready();
  if (metrics && path == "/metrics") {
    metrics_.events_are(events_->counts());
    return {200, metrics_.text(), "text/plain; version=0.0.4; charset=utf-8"};
  }
  return {404, "there are /healthz, /readyz and /metrics\n"};
}

Result<Done> Run::listen() {
  bool one = command_.metrics_address == command_.health_address;
  auto open = [&](const std::string& address, bool metrics, bool health) -> Result<Done> {
    if (address.empty() || address == "0") return Done{};
    Result<std::unique_ptr<OperatorHttp>> listener = OperatorHttp::start(
        address, [this, metrics, health](std::string_view path) { return answer(path, metrics, health); });
    if (!listener.ok()) return listener.error();
    listeners_.push_back(std::move(listener).value());
    return Done{};
  };
  Result<Done> opened = open(command_.metrics_address, true, one);
  if (opened.ok() && !one) opened = open(command_.health_address, false, true);
  return opened;
}

std::optional<int> Run::serve() {
  Interrupts interrupts;
  for (const std::string& note : command_.notes) log_.say(LogLevel::kWarning, note);
  if (Result<Done> connected = connect(); !connected.ok()) {
    log_.say(LogLevel::kError, connected.error().message);
    return kInputAtFault;
  }
  make_operator();
  if (Result<Done> listening = listen(); !listening.ok()) {
    log_.say(LogLevel::kError, listening.error().message);
    return kInputAtFault;
  }
  loop_->start();
  for (auto& loop : board_loops_) loop->start();
  bool again = false;
  while (interrupts.count() == 0 && !again) {
    interrupts.sleep(kLookEvery);
    again = interrupts.count() == 0 && volcano_ && must_begin_anew(*volcano_, look_for_volcano());
  }
  log_.say(LogLevel::kInfo, "going: what is under way is finished");
  for (auto& loop : board_loops_) loop->stop();
  loop_->stop();
  workers_->stop();
  operator_->hand_over(wall_clock());
  events_->stop(kEventsPatience);
  log_.say(LogLevel::kInfo, "gone");
  if (again) return std::nullopt;
  return kFine;
}

}  // namespace

int run_operator(const OperatorCommand& command, const Console& console) {
  // Workers come and go through small objects: an arena for each would keep what they free, and with one for
  // all of them they wait for one another.
  ::mallopt(M_ARENA_MAX, kArenas);
  // What a list is read into is given back at once, however often there was one.
  ::mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  while (true) {
    if (std::optional<int> code = Run(command, console).serve()) return *code;
  }
}

}  // namespace trainyard::cli
