#include "cli/data_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace trainyard::cli {
namespace {

int number_in(int fd) {
  char text[32] = {};
  ssize_t size = ::pread(fd, text, sizeof text - 1, 0);
  return size > 0 ? std::atoi(text) : 0;
}

// True once it is ours. A plane that was killed while it started a process leaves its lock to that one
// until it has begun: a holder that is no more is waited for a little, and so is one that has not written
// down who it is (`trainyard status` looks, a plane begins).
bool take_lock(int fd, int how) {
  constexpr int kPatienceMs = 5'000;
  constexpr int kPauseMs = 10;
  for (int waited = 0;; waited += kPauseMs) {
    if (::flock(fd, how | LOCK_NB) == 0) return true;
    int holder = number_in(fd);
    bool is_gone = holder <= 0 || (::kill(holder, 0) != 0 && errno == ESRCH);
    if (!is_gone || waited >= kPatienceMs) return false;
    ::poll(nullptr, 0, kPauseMs);
  }
}

}  // namespace

Result<std::filesystem::path> default_data_dir() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    return std::filesystem::path(state) / "trainyard";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::filesystem::path(home) / ".local" / "state" / "trainyard";
  }
  return Error{ErrorKind::kInvalid, "neither XDG_STATE_HOME nor HOME is set: say where with --data-dir"};
}

Result<DataDir> data_dir_of(const std::string& given) {
  if (!given.empty()) return DataDir{std::filesystem::absolute(given)};
  Result<std::filesystem::path> home = default_data_dir();
  if (!home.ok()) return home.error();
  return DataDir{*home};
}

Result<Fd> claim(const DataDir& dir) {
  std::error_code failed;
  std::filesystem::create_directories(dir.root, failed);
  if (failed) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("cannot make {}: {}", dir.root.string(), failed.message())};
  }
  ::chmod(dir.root.c_str(), 0700);
  Fd lock(::open(dir.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("cannot open {}: {}", dir.lock().string(), std::strerror(errno))};
  }
  if (!take_lock(lock.get(), LOCK_EX)) {
    return Error{ErrorKind::kAlreadyExists,
                 fmt::format("{} is in use by process {}", dir.root.string(), number_in(lock.get()))};
  }
  std::string text = fmt::format("{}\n", ::getpid());
  if (::ftruncate(lock.get(), 0) != 0 ||
      ::pwrite(lock.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("cannot write {}: {}", dir.lock().string(), std::strerror(errno))};
  }
  return lock;
}

int holder_of(const DataDir& dir) {
  Fd lock(::open(dir.lock().c_str(), O_RDONLY | O_CLOEXEC));
  if (!lock.valid()) return 0;
  if (take_lock(lock.get(), LOCK_SH)) return 0;
  return number_in(lock.get());
}

std::string for_a_shell(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string up_command(const DataDir& dir) {
  Result<std::filesystem::path> usual = default_data_dir();
  if (usual.ok() && *usual == dir.root) return "trainyard up";
  return fmt::format("trainyard up --data-dir {}", for_a_shell(dir.root.string()));
}

}  // namespace trainyard::cli
