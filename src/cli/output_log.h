// Logs of replicas: where the API has them, lines with a prefix; where commands are run.
// Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace trainyard::cli {

struct LogAsk {
  std::string container;  // "": the pod's only one
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<int64_t> tail;
  std::optional<Duration> since;
  size_t back = 0;  // so many runs before the last, as far as they are on disk; `previous` is one
};
// "/api/v1/namespaces/a/pods/p/log?container=tensorflow&follow=true".
std::string log_path(std::string_view ns, std::string_view pod, const LogAsk& ask);

// "/api/v1/namespaces/a/pods/p/exec?command=ls&command=-l&container=c&stdout=true&stderr=true".
std::string exec_path(std::string_view ns, std::string_view pod, std::string_view container,
                      const std::vector<std::string>& command, bool in, bool tty);

// Of what a replica prints without a line end, at most this much is held back.
inline constexpr size_t kLineShownMax = 64 << 10;

// Cuts a stream into lines, whichever way its bytes come. A line that is longer than kLineShownMax is
// given in pieces.
class ShownLines {
 public:
  // `line` is told each without its end.
  using Line = std::function<void(std::string_view)>;
  void feed(std::string_view bytes, const Line& line);
  // A last line without an end, if there is one.
  void finish(const Line& line);

 private:
  std::string begun_;
};

// Puts a prefix before each line of a stream.
class PrefixedLines {
 public:
  explicit PrefixedLines(std::string prefix) : prefix_(std::move(prefix)) {}
  // The lines that these bytes end, with prefix and line end.
  std::string feed(std::string_view bytes);
  // A last line without an end; "" when there is none.
  std::string finish();

 private:
  std::string with_prefix(std::string_view line) const;

  std::string prefix_;
  ShownLines lines_;
};

}  // namespace trainyard::cli
