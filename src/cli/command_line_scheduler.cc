#include "cli/command_line_scheduler.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/service_flags.h"

namespace trainyard::cli {

struct SchedulerCommands::Raw {
  SchedulerCommand scheduler;
  ServiceFlags flags;
  Target target;
  std::string name;
  std::string output;
  CreateQueue create;
  CLI::App* queue = nullptr;

  void add_scheduler(CLI::App& app);
  void add_queue(CLI::App& app);
  CLI::App* add_queue_verb(const char* verb, const char* about, const char* example);
};

SchedulerCommands::SchedulerCommands() : raw_(std::make_unique<Raw>()) {}
SchedulerCommands::~SchedulerCommands() = default;

void SchedulerCommands::describe(CLI::App& app) {
  raw_->add_scheduler(app);
  raw_->add_queue(app);
}

void SchedulerCommands::Raw::add_scheduler(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "scheduler", "Place the pods of a Kubernetes cluster: gangs, queues, priorities, fair shares");
  command
      ->add_option("--scheduler-name", scheduler.names,
                   "Pods with this schedulerName are placed; several times or with commas for several, such "
                   "as trainyard,volcano,kube-batch. No other scheduler may serve the same name")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--default-queue", scheduler.default_queue, "The queue of gangs that name none")
      ->capture_default_str();
  command->add_flag("--preempt,!--no-preempt", scheduler.preempt,
                    "Gangs of higher priority take the place of lower ones (the default)");
  command->add_flag("--reclaim,!--no-reclaim", scheduler.reclaim,
                    "Queues get back what others hold beyond their part (the default)");
  command->add_flag("--backfill,!--no-backfill", scheduler.backfill,
                    "A gang may overtake one that does not fit (the default)");
  ServiceFlags::add_cluster(*command, scheduler);
  ServiceFlags::add_lease(*command, scheduler, "schedulers");
  ServiceFlags::add_connections(*command, scheduler, "How many pods are bound at once");
  flags.add_outlook(*command, scheduler);
  command->footer(
      "PodGroups of Volcano, kube-batch, scheduler-plugins and the T9k Scheduler are understood.\n"
      "SIGTERM ends it: what is under way is finished and the Lease handed over.\n\n"
      "Examples:\n"
      "  trainyard scheduler --kubeconfig ~/.kube/config\n"
      "  trainyard scheduler --scheduler-name trainyard,volcano,kube-batch\n"
      "  trainyard scheduler --no-preempt --log-format json");
}

CLI::App* SchedulerCommands::Raw::add_queue_verb(const char* verb, const char* about, const char* example) {
  CLI::App* command = queue->add_subcommand(verb, about);
  command->add_option("--kubeconfig", target.kubeconfig, "The kubeconfig that leads to the cluster");
  command->add_option("--context", target.context, "The context of the kubeconfig");
  command->add_option("--data-dir", target.data_dir, "The folder of the embedded plane");
  command->add_option("-n,--namespace", target.ns, "The namespace, for queues of the T9k Scheduler");
  command->footer(fmt::format("Examples:\n  {}", example));
  return command;
}

void SchedulerCommands::Raw::add_queue(CLI::App& app) {
  queue = app.add_subcommand("queue", "Show and change the queues that gangs wait in");
  queue->require_subcommand(1);
  queue->footer(
      "Examples:\n"
      "  trainyard queue list\n"
      "  trainyard queue describe default\n"
      "  trainyard queue create research --weight 2 --capacity cpu=64,nvidia.com/gpu=8");
  CLI::App* list = add_queue_verb("list", "All queues: their part, what they hold, who waits",
                                  "trainyard queue list\n  trainyard queue list -o json");
  CLI::App* describe = add_queue_verb("describe", "One queue: its gangs, and why those that wait do",
                                      "trainyard queue describe research");
  CLI::App* make =
      add_queue_verb("create", "Make a queue",
                     "trainyard queue create research --weight 2 --capacity cpu=64,memory=256Gi\n"
                     "  trainyard queue create urgent --priority 100 --guarantee cpu=8");
  CLI::App* close = add_queue_verb("close", "Let no new gang start from it; what runs goes on",
                                   "trainyard queue close research");
  CLI::App* open = add_queue_verb("open", "Open a closed queue again", "trainyard queue open research");
  CLI::App* remove = add_queue_verb("delete", "Delete a queue", "trainyard queue delete research");
  for (CLI::App* command : {describe, make, close, open, remove}) {
    command->add_option("NAME", name, "The queue's name")->required()->type_name("");
  }
  for (CLI::App* command : {list, describe}) {
    command->add_option("-o,--output", output, "yaml or json: the same, for programs")
        ->check(CLI::IsMember({"yaml", "json"}));
  }
  make->add_option("--weight", create.weight, "Its part, beside the weights of others")
      ->capture_default_str()
      ->check(CLI::Range(1, 65535));
  make->add_option("--priority", create.priority, "Queues of higher priority go first and may preempt")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  make->add_option("--capacity", create.capacity, "The most it may hold, such as cpu=64,memory=256Gi")
      ->delimiter(',');
  make->add_option("--guarantee", create.guarantee, "What is kept free for it, such as cpu=8")
      ->delimiter(',');
  make->add_flag("--reclaimable,!--no-reclaimable", create.reclaimable,
                 "Others may take back what it holds beyond its part (the default)");
}

std::optional<Command> SchedulerCommands::read(std::string_view name) const {
  if (name == "scheduler") {
    SchedulerCommand command = raw_->scheduler;
    raw_->flags.read(command);
    return command;
  }
  if (name != "queue") return std::nullopt;
  ListForm form = raw_->output == "yaml"   ? ListForm::kYaml
                  : raw_->output == "json" ? ListForm::kJson
                                           : ListForm::kTable;
  QueueCommand command{raw_->target, ListQueues{form}};
  const std::string& queue = raw_->name;
  CreateQueue create = raw_->create;
  create.name = queue;
  std::string verb = raw_->queue->get_subcommands().front()->get_name();
  if (verb == "describe") command.verb = DescribeQueue{queue, form};
  if (verb == "create") command.verb = std::move(create);
  if (verb == "close") command.verb = CloseQueue{queue, true};
  if (verb == "open") command.verb = CloseQueue{queue, false};
  if (verb == "delete") command.verb = DeleteQueue{queue};
  return command;
}

}  // namespace trainyard::cli
