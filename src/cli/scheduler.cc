#include "cli/scheduler.h"

#include <fmt/format.h>
#include <malloc.h>

#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/operator_http.h"
#include "cli/operator_log.h"
#include "cli/plane.h"
#include "cli/scheduler_report.h"
#include "cli/service_clients.h"
#include "control/event_queue.h"
#include "control/loop.h"
#include "control/scheduler.h"
#include "kube/meta.h"

namespace trainyard::cli {
namespace {

constexpr Duration kLookAgain{60'000};
constexpr Duration kEventsGrace{5'000};
// Lists at the start are sent side by side; later two carry bindings.
constexpr int kWorkers = 4;

// The API groups whose groups are ours while they have no pods that would say whose they are.
std::set<std::string> groups_of(const std::vector<std::string>& names) {
  std::set<std::string> out;
  for (const std::string& name : names) {
    if (name == "volcano") out.emplace(kube::kVolcanoPodGroups.group);
    if (name == "kube-batch") out.emplace(kube::kKubeBatchPodGroups.group);
    if (name == "t9k-scheduler") out.emplace(kube::kT9kPodGroups.group);
    if (name == "scheduler-plugins-scheduler") out.emplace(kube::kCoschedulingPodGroups.group);
  }
  out.emplace("");  // never empty: that would mean all of them
  return out;
}

// Everything a scheduler consists of, in the order in which it must go away, last first.
class SchedulerRun {
 public:
  SchedulerRun(const SchedulerCommand& command, const Console& console)
      : command_(command), log_(console.err, command.log_form, command.log_level), report_(log_) {}

  int serve();

 private:
  Result<Done> connect();
  void make_scheduler();
  Result<Done> listen();

  const SchedulerCommand& command_;
  Log log_;
  SchedulerReport report_;
  ServiceClients clients_;
  std::unique_ptr<control::EventQueue> events_;
  std::unique_ptr<control::Scheduler> scheduler_;
  std::unique_ptr<control::Loop> loop_;
  std::unique_ptr<control::Workers> workers_;  // stopped before what they work for goes
  std::vector<std::unique_ptr<OperatorHttp>> listeners_;
};

Result<Done> SchedulerRun::connect() {
  client::HttpOptions options;
  options.requests_max = command_.connections;
  options.idle_connections_max = command_.connections;
  options.user_agent = "trainyard-scheduler";
  // What is told of may be told by who led when it was done.
  options.may_write = [this](std::string_view resource) {
    return resource == kube::kEvents.plural || scheduler_->leads();
  };
  Result<ServiceClients> made = connect_service(command_, std::move(options));
  if (!made.ok()) return made.error();
  clients_ = std::move(made).value();
  const client::Access& access = clients_.work->access();
  log_.say(LogLevel::kInfo, "trainyard scheduler", {{"cluster", access.where}, {"server", access.server}});
  return Done{};
}

void SchedulerRun::make_scheduler() {
  control::SchedulerOptions options;
  options.front.schedulers = {command_.names.begin(), command_.names.end()};
  options.front.groups = groups_of(command_.names);
  options.front.default_queue = command_.default_queue;
  options.waits_for_claims = true;
  options.policy.preempt = command_.preempt;
  options.policy.reclaim = command_.reclaim;
  options.policy.backfill = command_.backfill;
  options.elects_leader = command_.leader_elect;
  options.identity = command_.identity.empty() ? service_identity() : command_.identity;
  options.lease_name = command_.lease_name;
  options.lease_ns = lease_namespace(command_.lease_ns, *clients_.work);
  log_.say(
      LogLevel::kInfo, "placing pods",
      {{"schedulerNames", fmt::format("{}", fmt::join(command_.names, ","))},
       {"lease", options.elects_leader ? fmt::format("{}/{}", options.lease_ns, options.lease_name) : "none"},
       {"identity", options.identity}});
  workers_ = std::make_unique<control::Workers>(kWorkers);
  control::EventQueueOptions words;
  words.together = 8;  // they come after the bindings that they tell of
  events_ = std::make_unique<control::EventQueue>(*clients_.work, wall_clock, words);
  control::SchedulerPorts ports{*clients_.work, wall_clock};
  ports.uptime = uptime;
  ports.workers = workers_.get();
  ports.events = events_.get();
  ports.lease_client = clients_.lease.get();
  ports.on_health = [this](const control::SchedulerHealth& health) { report_.see(health); };
  scheduler_ = std::make_unique<control::Scheduler>(std::move(ports), std::move(options));
  loop_ = std::make_unique<control::Loop>(*scheduler_, *clients_.work, *clients_.work, wall_clock,
                                          workers_.get());
}

Result<Done> SchedulerRun::listen() {
  std::vector<std::string> addresses{command_.metrics_address};
  if (command_.health_address != command_.metrics_address) addresses.push_back(command_.health_address);
  for (const std::string& address : addresses) {
    if (address.empty() || address == "0") continue;
    Result<std::unique_ptr<OperatorHttp>> listener =
        OperatorHttp::start(address, [this](std::string_view path) { return report_.answer(path); });
    if (!listener.ok()) return listener.error();
    listeners_.push_back(std::move(listener).value());
  }
  return Done{};
}

int SchedulerRun::serve() {
  Interrupts interrupts;
  auto fail = [&](const Error& error) {
    log_.say(LogLevel::kError, error.message);
    return kInputAtFault;
  };
  if (Result<Done> connected = connect(); !connected.ok()) return fail(connected.error());
  make_scheduler();
  if (Result<Done> listening = listen(); !listening.ok()) return fail(listening.error());
  loop_->start();
  while (interrupts.count() == 0) interrupts.sleep(kLookAgain);
  log_.say(LogLevel::kInfo, "going: what is under way is finished");
  loop_->stop();
  workers_->stop();
  scheduler_->hand_over(wall_clock());
  events_->stop(kEventsGrace);
  log_.say(LogLevel::kInfo, "gone");
  return kFine;
}

}  // namespace

int run_scheduler(const SchedulerCommand& command, const Console& console) {
  // As for the operator: documents come and go, and an arena for each thread would keep their room.
  ::mallopt(M_ARENA_MAX, 2);
  return SchedulerRun(command, console).serve();
}

}  // namespace trainyard::cli
