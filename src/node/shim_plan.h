// What a shim is told and what it writes down: values with a JSON form. Pure.
//
// A shim has a folder of its own; the files in it have fixed names (see kShim... below).
// The plan goes in as plan.json, state.json says that the container runs, exit.json how it
// ended. `life` is a FIFO whose only writer is the shim: no writer, no shim. A byte comes
// through it once state.json is there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace trainyard::node {

inline constexpr const char* kShimPlanFile = "plan.json";
inline constexpr const char* kShimStateFile = "state.json";
inline constexpr const char* kShimExitFile = "exit.json";
inline constexpr const char* kShimLifeFifo = "life";
inline constexpr const char* kShimSocket = "ctl";

inline constexpr int64_t kLogBytesMax = 10 << 20;  // of one file, then it is rotated
inline constexpr int kLogFilesMax = 5;             // the current one included

struct ShimPlan {
  // The container itself; or, with container_pid_file, a command that starts it in the
  // background, leaves, and has written its pid there (`runc run --detach --pid-file`).
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;  // the whole environment
  std::string cwd;                                       // "" for the shim's folder
  std::optional<int64_t> uid;
  std::optional<int64_t> gid;
  std::string container_pid_file;
  // Run once the container has ended and before that is written down; its output is dropped.
  std::vector<std::string> after_argv;
  // cgroup.procs files that the container's process joins before it begins.
  std::vector<std::string> cgroup_procs;
  std::string log_file;
  int64_t log_bytes_max = kLogBytesMax;
  int log_files_max = kLogFilesMax;
  bool tty = false;  // argv's streams are a terminal that the shim holds
  // With container_pid_file: the starter sends the terminal to this socket (runc's
  // --console-socket); the shim listens there.
  std::string console_socket;
  bool stdin_open = false;
  bool stdin_once = false;  // stdin ends with the first attachment
  bool operator==(const ShimPlan&) const = default;
};

// The container runs.
struct ShimState {
  int64_t shim_pid = 0;
  int64_t pid = 0;  // of the container's first process, leader of its group
  // Of that process in clock ticks since boot, so that a pid used again is not taken for it.
  int64_t pid_start_ticks = 0;
  Time started;
  bool operator==(const ShimState&) const = default;
};

// The container has ended.
struct ShimExit {
  Time started;
  Time finished;
  int exit_code = 0;  // 128 + signal when killed by one
  int signal = 0;
  std::string message;  // why it could not be started; "" when it was
  bool operator==(const ShimExit&) const = default;
};

std::string to_text(const ShimPlan& plan);
std::string to_text(const ShimState& state);
std::string to_text(const ShimExit& exit);
// kInvalid when it is not one.
Result<ShimPlan> read_shim_plan(std::string_view text);
Result<ShimState> read_shim_state(std::string_view text);
Result<ShimExit> read_shim_exit(std::string_view text);

}  // namespace trainyard::node
