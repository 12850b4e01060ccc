#include "node/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/fd.h"

namespace trainyard::node {

Error error_of(int error_number, std::string_view doing, std::string_view what) {
  ErrorKind kind = error_number == ENOENT || error_number == ENOTDIR ? ErrorKind::kNotFound
                   : error_number == EACCES || error_number == EPERM ? ErrorKind::kForbidden
                                                                     : ErrorKind::kUnavailable;
  return Error{kind, fmt::format("{} {}: {}", doing, what, std::strerror(error_number))};
}

Result<std::string> read_whole(const std::filesystem::path& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return error_of(errno, "open", path.native());
  std::string text;
  char buffer[16384];
  for (;;) {
    ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error_of(errno, "read", path.native());
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
    if (text.size() > kSmallFileMax) return Error{ErrorKind::kInvalid, path.native() + ": too large"};
  }
}

namespace {

Result<Done> write_file(const std::filesystem::path& path, std::string_view text, unsigned mode, bool sync) {
  std::filesystem::path aside = path;
  aside += ".new";
  Fd fd(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!fd.valid()) return error_of(errno, "open", aside.native());
  for (std::string_view rest = text; !rest.empty();) {
    ssize_t n = ::write(fd.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error_of(errno, "write", aside.native());
    rest.remove_prefix(static_cast<size_t>(n));
  }
  if (::fchmod(fd.get(), mode) != 0) return error_of(errno, "chmod", aside.native());
  if (sync && ::fsync(fd.get()) != 0) return error_of(errno, "fsync", aside.native());
  if (::rename(aside.c_str(), path.c_str()) != 0) return error_of(errno, "rename", path.native());
  if (!sync) return Done{};
  Fd folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) ::fsync(folder.get());
  return Done{};
}

}  // namespace

Result<Done> write_whole(const std::filesystem::path& path, std::string_view text, unsigned mode) {
  return write_file(path, text, mode, true);
}

Result<Done> write_soon(const std::filesystem::path& path, std::string_view text, unsigned mode) {
  return write_file(path, text, mode, false);
}

Result<Done> make_folders(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error && !std::filesystem::is_directory(path)) return error_of(error.value(), "mkdir", path.native());
  return Done{};
}

std::optional<int64_t> start_ticks_of(int64_t pid) {
  Result<std::string> stat = read_whole(fmt::format("/proc/{}/stat", pid));
  if (!stat.ok()) return std::nullopt;
  // Field 22; the second one, the name, may hold anything but ends with the last ')'.
  size_t at = stat->rfind(')');
  if (at == std::string::npos) return std::nullopt;
  constexpr int kFieldsBetween = 20;
  for (int field = 0; field < kFieldsBetween; ++field) {
    at = stat->find(' ', at + 1);
    if (at == std::string::npos) return std::nullopt;
  }
  return std::strtoll(stat->c_str() + at + 1, nullptr, 10);
}

Time wall_clock() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return Time{std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
}

}  // namespace trainyard::node
