#include "node/log_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace trainyard::node {

std::string format_nanos(int64_t nanos_since_1970) {
  constexpr int64_t kNanos = 1'000'000'000;
  std::time_t whole = nanos_since_1970 / kNanos;
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, nanos_since_1970 % kNanos);
}

std::string log_entry(int64_t nanos, LogStream stream, bool whole, std::string_view text) {
  return fmt::format("{} {} {} {}\n", format_nanos(nanos), stream == LogStream::kOut ? "stdout" : "stderr",
                     whole ? "F" : "P", text);
}

std::filesystem::path rotated(const std::filesystem::path& file, int n) {
  if (n == 0) return file;
  return std::filesystem::path(fmt::format("{}.{}", file.native(), n));
}

LogWriter::LogWriter(std::filesystem::path file, int64_t bytes_max, int files_max)
    : file_(std::move(file)), bytes_max_(bytes_max), files_max_(files_max) {
  open();
}

void LogWriter::open() {
  fd_.reset(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640));
  struct stat about {};
  bytes_ = fd_.valid() && ::fstat(fd_.get(), &about) == 0 ? about.st_size : 0;
}

void LogWriter::rotate() {
  for (int n = files_max_ - 2; n >= 0; --n) {
    ::rename(rotated(file_, n).c_str(), rotated(file_, n + 1).c_str());
  }
  if (files_max_ <= 1) ::unlink(file_.c_str());
  open();
}

void LogWriter::put(const std::string& entries) {
  if (!fd_.valid()) open();
  if (!fd_.valid()) return;
  if (bytes_ > 0 && bytes_ + static_cast<int64_t>(entries.size()) > bytes_max_) rotate();
  for (std::string_view rest = entries; !rest.empty() && fd_.valid();) {
    ssize_t n = ::write(fd_.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;
    bytes_ += n;
    rest.remove_prefix(static_cast<size_t>(n));
  }
}

void LogWriter::write(LogStream stream, std::string_view bytes, int64_t nanos) {
  std::string& begun = begun_[stream == LogStream::kErr ? 1 : 0];
  std::string entries;
  while (!bytes.empty()) {
    size_t end = bytes.find('\n');
    size_t room = kLogPartMax - begun.size();
    size_t take = std::min({end == std::string_view::npos ? bytes.size() : end, room});
    begun.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
    bool whole = !bytes.empty() && bytes.front() == '\n';
    if (whole) bytes.remove_prefix(1);
    if (!whole && begun.size() < kLogPartMax) break;
    entries += log_entry(nanos, stream, whole, begun);
    begun.clear();
  }
  if (!entries.empty()) put(entries);
}

void LogWriter::finish(int64_t nanos) {
  for (LogStream stream : {LogStream::kOut, LogStream::kErr}) {
    std::string& begun = begun_[stream == LogStream::kErr ? 1 : 0];
    // Kept as a part, so that a reader gives it back without a line end that was not there.
    if (!begun.empty()) put(log_entry(nanos, stream, false, begun));
    begun.clear();
  }
}

}  // namespace trainyard::node
