// Commands: what the user asked for, as values. command_line.h makes one from argv,
// run.h carries it out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "cli/install_command.h"
#include "cli/operator_command.h"
#include "cli/scheduler_command.h"
#include "cli/verbs.h"
#include "dialect/shared/dialect.h"

namespace trainyard::cli {

// Exit statuses of the process.
inline constexpr int kFine = 0;
inline constexpr int kInputAtFault = 1;
inline constexpr int kUsage = 2;

enum class OutputForm { kText, kYaml, kJson };

struct Validate {
  std::vector<std::string> paths;
  dialect::Settings settings;

  bool operator==(const Validate&) const = default;
};

struct Explain {
  std::vector<std::string> paths;
  OutputForm form = OutputForm::kText;
  std::optional<Time> now;  // none: the time it is
  dialect::Settings settings;

  bool operator==(const Explain&) const = default;
};

struct Convert {
  std::vector<std::string> paths;
  std::string to;  // a dialect's name

  bool operator==(const Convert&) const = default;
};

struct Simulate {
  uint64_t seed = 1;
  uint64_t count = 1;
  bool trace = false;  // of one seed only
  int threads = 0;     // 0: one per core

  bool operator==(const Simulate&) const = default;
};

enum class RuntimeChoice { kAuto, kSandbox, kRunc, kCrun, kProcess };

// How the embedded plane runs what it is given; shared by `run` and `up`.
struct PlaneSettings {
  std::string data_dir;  // "" for the default
  RuntimeChoice runtime = RuntimeChoice::kAuto;
  int gpus = -1;                         // -1: those that are found
  bool pull = false;                     // bring images that are not here
  std::vector<std::string> tensorboard;  // the command of TensorBoards; empty for the usual one
  int log_days = 14;                     // logs are kept for so long,
  int log_megabytes = 2048;              // and no more than this
  dialect::Settings settings;

  bool operator==(const PlaneSettings&) const = default;
};

// Run jobs here, now.
struct RunJobs {
  std::vector<std::string> paths;
  PlaneSettings plane;
  bool quiet = false;  // no logs of replicas

  bool operator==(const RunJobs&) const = default;
};

struct Up {
  PlaneSettings plane;
  std::string address = "127.0.0.1";
  int port = 0;  // 0: the one it had before, else a free one
  bool detach = false;

  bool operator==(const Up&) const = default;
};

struct Down {
  std::string data_dir;
  bool leave_running = false;  // the replicas go on; the next `up` adopts them

  bool operator==(const Down&) const = default;
};

struct PlaneStatus {
  std::string data_dir;

  bool operator==(const PlaneStatus&) const = default;
};

struct Pull {
  std::string data_dir;
  std::vector<std::string> images;

  bool operator==(const Pull&) const = default;
};

// Brings an image from a folder or an OCI layout.
struct Import {
  std::string data_dir;
  std::string path;
  std::string name;

  bool operator==(const Import&) const = default;
};

struct Images {
  std::string data_dir;

  bool operator==(const Images&) const = default;
};

// The process that watches one container; started by the node, not by people.
struct Shim {
  std::string plan;

  bool operator==(const Shim&) const = default;
};

struct Completion {
  std::string shell;  // bash, zsh or fish

  bool operator==(const Completion&) const = default;
};

struct Version {
  bool operator==(const Version&) const = default;
};

// Text that was asked for: help.
struct Help {
  std::string text;

  bool operator==(const Help&) const = default;
};

// The command line made no sense; the text says why and what would.
struct Misused {
  std::string text;

  bool operator==(const Misused&) const = default;
};

using Command = std::variant<Validate, Explain, Convert, Simulate, OnCluster, RunJobs, Up, Down, PlaneStatus,
                             Pull, Import, Images, Shim, OperatorCommand, SchedulerCommand, QueueCommand,
                             Install, Completion, Version, Help, Misused>;

}  // namespace trainyard::cli
