// The verbs: what the user asks of jobs that live behind an API, in the embedded plane or
// on any cluster, as values. verbs_command_line.h makes them from argv, verbs_run.h carries
// them out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "dialect/shared/dialect.h"

namespace trainyard::cli {

// Which API to talk to, and where in it.
struct Target {
  std::string kubeconfig;
  std::string context;
  std::string data_dir;  // of the embedded plane
  std::string ns;        // "": what the context says, else default
  bool all_namespaces = false;

  bool operator==(const Target&) const = default;
};

// Which replicas of a job. Neither role nor index: all of them.
struct ReplicaChoice {
  std::string role;
  std::optional<int> index;

  bool operator==(const ReplicaChoice&) const = default;
};

struct Submit {
  std::vector<std::string> paths;
  dialect::Settings settings;
  bool operator==(const Submit&) const = default;
};

enum class ListForm { kTable, kWide, kYaml, kJson, kName };
struct GetJobs {
  std::vector<std::string> words;  // KIND, then NAMEs; or NAMEs such as tfjob/mnist
  ListForm form = ListForm::kTable;
  bool watch = false;
  std::optional<Duration> timeout;  // of a watch; none: for ever
  std::string selector;
  bool operator==(const GetJobs&) const = default;
};

struct DescribeJobs {
  std::vector<std::string> jobs;
  bool operator==(const DescribeJobs&) const = default;
};

struct ShowLogs {
  std::string job;
  ReplicaChoice replicas;
  bool all = false;  // every replica; else, without a choice, the one that decides the job
  std::string container;
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<int64_t> tail;
  std::optional<Duration> since;
  int64_t back = 0;  // so many runs before the last; `previous` is one
  bool operator==(const ShowLogs&) const = default;
};

struct PauseJobs {
  std::vector<std::string> jobs;
  bool operator==(const PauseJobs&) const = default;
};

struct ResumeJobs {
  std::vector<std::string> jobs;
  bool operator==(const ResumeJobs&) const = default;
};

struct ScaleJob {
  std::string job;
  std::vector<std::pair<std::string, int>> roles;
  bool operator==(const ScaleJob&) const = default;
};

struct DeleteJobs {
  std::vector<std::string> jobs;
  bool wait = false;
  std::optional<Duration> timeout;
  bool operator==(const DeleteJobs&) const = default;
};

enum class Goal { kSucceeded, kFailed, kFinished, kRunning, kPaused };
struct WaitForJob {
  std::string job;
  Goal goal = Goal::kFinished;
  std::optional<Duration> timeout;
  bool operator==(const WaitForJob&) const = default;
};

struct TopJobs {
  std::vector<std::string> jobs;  // none: all
  bool operator==(const TopJobs&) const = default;
};

struct ShowEvents {
  std::vector<std::string> jobs;  // none: all of the namespace
  bool operator==(const ShowEvents&) const = default;
};

struct ExecIn {
  std::string job;  // or a pod
  ReplicaChoice replica;
  std::string container;
  bool in = false;
  bool tty = false;
  std::vector<std::string> command;
  bool operator==(const ExecIn&) const = default;
};

using Verb = std::variant<Submit, GetJobs, DescribeJobs, ShowLogs, PauseJobs, ResumeJobs, ScaleJob,
                          DeleteJobs, WaitForJob, TopJobs, ShowEvents, ExecIn>;

struct OnCluster {
  Target target;
  Verb verb;
  bool operator==(const OnCluster&) const = default;
};

// Exit statuses besides those of commands.h.
inline constexpr int kOutOfTime = 3;

}  // namespace trainyard::cli
