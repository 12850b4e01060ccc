// LogWriter: output of a container as a log on disk, one line each:
//   2026-11-16T03:16:24.123456789Z stdout F the text
// F ends a line, P is a part of a long one. A file that grows too large is renamed to
// <file>.1 (and .1 to .2, ...) and a new one begun; so many are kept. When the disk is
// full output is lost, the container is never held up. Resource; one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace trainyard::node {

inline constexpr size_t kLogPartMax = 16 << 10;  // a longer line is cut into parts

enum class LogStream { kOut, kErr };

// "2026-11-16T03:16:24.123456789Z".
std::string format_nanos(int64_t nanos_since_1970);
// One entry of a log. REQUIRES: the text has no line end.
std::string log_entry(int64_t nanos, LogStream stream, bool whole, std::string_view text);
// <file>.<n>; n of 0 is the file itself.
std::filesystem::path rotated(const std::filesystem::path& file, int n);

class LogWriter {
 public:
  LogWriter(std::filesystem::path file, int64_t bytes_max, int files_max);

  void write(LogStream stream, std::string_view bytes, int64_t nanos);
  // Ends lines that were begun; at the end of the container.
  void finish(int64_t nanos);

 private:
  void put(const std::string& entries);
  void open();
  void rotate();

  // Fixed.
  std::filesystem::path file_;
  int64_t bytes_max_;
  int files_max_;
  // State.
  Fd fd_;
  int64_t bytes_ = 0;
  std::string begun_[2];  // of each stream: a line without an end yet
};

}  // namespace trainyard::node
