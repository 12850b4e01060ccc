// Log: what the operator says on standard error: one line per event, for people or as JSON.
// Nothing secret is ever handed to it. Resource; thread-safe.
#pragma once

#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/operator_command.h"

namespace trainyard::cli {

struct LogField {
  std::string_view name;
  std::string value;
};

// The line, with its end. Pure.
std::string log_line(LogForm form, LogLevel level, Time now, std::string_view message,
                     const std::vector<LogField>& fields);

class Log {
 public:
  // `out` outlives it.
  Log(std::ostream& out, LogForm form, LogLevel least) : out_(out), form_(form), least_(least) {}
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  bool says(LogLevel level) const { return level >= least_; }
  void say(LogLevel level, std::string_view message, const std::vector<LogField>& fields = {});

 private:
  std::ostream& out_;
  LogForm form_;
  LogLevel least_;
  std::mutex mutex_;
};

}  // namespace trainyard::cli
