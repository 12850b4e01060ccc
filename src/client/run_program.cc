#include "client/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/fd.h"

extern char** environ;

namespace trainyard::client {
namespace {

constexpr size_t kPrintedMax = 1024 * 1024;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view text(*entry);
    std::string_view name = text.substr(0, text.find('='));
    bool replaced =
        std::any_of(more.begin(), more.end(), [&](const auto& pair) { return pair.first == name; });
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

// Starts it with `out` as its standard output; 0 or errno.
int start(const Program& program, int out, pid_t& pid) {
  std::vector<std::string> words{program.command};
  words.insert(words.end(), program.args.begin(), program.args.end());
  std::vector<std::string> environment = environment_with(program.env);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (!program.reads_terminal) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  // Connections of ours are none of its business.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  int failed = posix_spawnp(&pid, program.command.c_str(), &actions, nullptr, pointers(words).data(),
                            pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

// What comes out until the end; nullopt when it takes too long or is too much.
std::optional<std::string> read_all(int fd, const Program& program) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point until = Clock::now() + program.time_limit;
  std::string printed;
  char chunk[4096];
  while (printed.size() < kPrintedMax) {
    auto left = std::chrono::duration_cast<Duration>(until - Clock::now()).count();
    if (!program.reads_terminal && left <= 0) return std::nullopt;
    pollfd wait{fd, POLLIN, 0};
    int ready = poll(&wait, 1, program.reads_terminal ? -1 : static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    ssize_t got = read(fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return printed;
    printed.append(chunk, static_cast<size_t>(got));
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> run_program(const Program& program) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error{ErrorKind::kUnavailable, std::strerror(errno)};
  Fd reader(ends[0]);
  Fd writer(ends[1]);
  pid_t pid = 0;
  if (int failed = start(program, writer.get(), pid); failed != 0) {
    ErrorKind kind = failed == ENOENT ? ErrorKind::kNotFound : ErrorKind::kUnavailable;
    return Error{kind, fmt::format("{}: {}", program.command, std::strerror(failed))};
  }
  writer.reset();
  std::optional<std::string> printed = read_all(reader.get(), program);
  if (!printed) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!printed) {
    return Error{ErrorKind::kUnavailable, fmt::format("{}: printed too much or did not end within {}",
                                                      program.command, format_duration(program.time_limit))};
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::string end = WIFEXITED(status) ? fmt::format("exit status {}", WEXITSTATUS(status))
                                        : fmt::format("signal {}", WTERMSIG(status));
    return Error{ErrorKind::kUnavailable, fmt::format("{}: {}", program.command, end)};
  }
  return *printed;
}

}  // namespace trainyard::client
