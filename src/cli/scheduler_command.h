// SchedulerCommand and QueueCommand: `trainyard scheduler` and `trainyard queue` as they were
// asked for. Values.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/service_command.h"
#include "cli/verbs.h"

namespace trainyard::cli {

struct SchedulerCommand : ServiceCommand {
  SchedulerCommand() {
    lease_name = "trainyard-scheduler";
    connections = 64;  // bindings are small, and the server's store flushes many at once
  }

  std::vector<std::string> names{"trainyard"};  // spec.schedulerName of the pods that are ours
  std::string default_queue = "default";
  bool preempt = true;
  bool reclaim = true;
  bool backfill = true;

  bool operator==(const SchedulerCommand&) const = default;
};

struct ListQueues {
  ListForm form = ListForm::kTable;
  bool operator==(const ListQueues&) const = default;
};
struct DescribeQueue {
  std::string name;
  ListForm form = ListForm::kTable;
  bool operator==(const DescribeQueue&) const = default;
};
struct CreateQueue {
  std::string name;
  int weight = 1;
  int priority = 0;
  std::vector<std::string> capacity;   // "cpu=4"
  std::vector<std::string> guarantee;  // the same
  bool reclaimable = true;
  bool operator==(const CreateQueue&) const = default;
};
struct CloseQueue {
  std::string name;
  bool close = true;  // false: open it again
  bool operator==(const CloseQueue&) const = default;
};
struct DeleteQueue {
  std::string name;
  bool operator==(const DeleteQueue&) const = default;
};

struct QueueCommand {
  Target target;
  std::variant<ListQueues, DescribeQueue, CreateQueue, CloseQueue, DeleteQueue> verb;
  bool operator==(const QueueCommand&) const = default;
};

}  // namespace trainyard::cli
