#include "node/sandbox_tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "node/pipe.h"

extern char** environ;

namespace trainyard::node {
namespace {

using Clock = std::chrono::steady_clock;

// The child gets an empty standard input, the pipes, and the signals as they are by default.
int spawn(const std::vector<std::string>& argv, bool own_group, int out, int err, pid_t& pid) {
  std::vector<char*> args;
  for (const std::string& arg : argv) args.push_back(const_cast<char*>(arg.c_str()));
  args.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (own_group ? POSIX_SPAWN_SETPGROUP : 0);
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
  int failure = ::posix_spawnp(&pid, args[0], &actions, &attributes, args.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

// Reads what is there; false at the end of the stream.
bool take(int fd, std::string& text) {
  std::array<char, 16384> buffer;
  ssize_t n = ::read(fd, buffer.data(), buffer.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return false;
  text.append(buffer.data(), static_cast<size_t>(n));
  return true;
}

void tell_lines(const std::string& text, size_t& told, const std::function<void(std::string_view)>& on_line) {
  if (!on_line) return;
  for (size_t end = text.find('\n', told); end != std::string::npos; end = text.find('\n', told)) {
    on_line(std::string_view(text).substr(told, end - told));
    told = end + 1;
  }
}

// Reads both streams to their ends; false when the deadline passed before.
bool collect(Pipe& out, Pipe& err, const ToolOptions& options, ToolEnd& end) {
  Clock::time_point deadline = Clock::now() + options.deadline;
  size_t told = 0;
  std::array<pollfd, 2> waits{{{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}}};
  while (waits[0].fd >= 0 || waits[1].fd >= 0) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    int ready = ::poll(waits.data(), waits.size(), static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    if (waits[0].fd >= 0 && waits[0].revents != 0) {
      if (!take(waits[0].fd, end.out)) waits[0].fd = -1;
      tell_lines(end.out, told, options.on_line);
    }
    if (waits[1].fd >= 0 && waits[1].revents != 0 && !take(waits[1].fd, end.err)) waits[1].fd = -1;
  }
  return true;
}

}  // namespace

ToolEnd run_tool(const std::vector<std::string>& argv, const ToolOptions& options) {
  ToolEnd end;
  std::optional<Pipe> out = make_pipe();
  std::optional<Pipe> err = make_pipe();
  pid_t pid = -1;
  if (!out || !err) {
    return {127, "", fmt::format("{}: {}", argv.front(), ::strerror(errno)), false};
  }
  if (int failure = spawn(argv, options.own_group, out->write.get(), err->write.get(), pid); failure != 0) {
    return {127, "", fmt::format("{}: {}", argv.front(), ::strerror(failure)), false};
  }
  out->write.reset();
  err->write.reset();
  if (!collect(*out, *err, options, end)) {
    end.timed_out = true;
    ::kill(options.own_group ? -pid : pid, SIGKILL);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (end.timed_out) end.err += fmt::format("{} took too long and was stopped\n", argv.front());
  return end;
}

std::optional<std::filesystem::path> find_tool(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string folders = fmt::format("{}:/usr/local/sbin:/usr/sbin:/sbin", path == nullptr ? "" : path);
  for (size_t begin = 0; begin <= folders.size();) {
    size_t colon = std::min(folders.find(':', begin), folders.size());
    std::filesystem::path file = std::filesystem::path(folders.substr(begin, colon - begin)) / name;
    if (file.is_absolute() && ::access(file.c_str(), X_OK) == 0) return file;
    begin = colon + 1;
  }
  return std::nullopt;
}

std::string message_of(std::string_view line) {
  size_t at = line.find("msg=\"");
  if (at == std::string_view::npos) return std::string(line);
  std::string message;
  for (size_t i = at + 5; i < line.size() && line[i] != '"'; ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) ++i;
    message.push_back(line[i]);
  }
  return message;
}

std::string last_words(const ToolEnd& end) {
  std::string_view text = end.err.find_first_not_of(" \n") == std::string::npos ? end.out : end.err;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  size_t line = text.rfind('\n');
  if (line != std::string_view::npos) text.remove_prefix(line + 1);
  return text.empty() ? fmt::format("exit code {}", end.exit_code) : message_of(text);
}

}  // namespace trainyard::node
