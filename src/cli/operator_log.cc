#include "cli/operator_log.h"

#include <fmt/format.h>

#include "cli/plane.h"
#include "kube/access.h"
#include "kube/json.h"

namespace trainyard::cli {
namespace {

std::string_view name_of_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warn";
    case LogLevel::kError:
      return "error";
  }
  return "";
}

std::string with_millis(Time now) {
  std::string text = format_rfc3339(now);
  text.pop_back();
  return fmt::format("{}.{:03}Z", text, now.ms % 1000);
}

// A value that reads as one word is written plain.
std::string as_value(const std::string& value) {
  bool plain = !value.empty() && value.find_first_of(" \t\n\r\"=\\") == std::string::npos;
  return plain ? value : json::serialize(json::value(value));
}

}  // namespace

std::string log_line(LogForm form, LogLevel level, Time now, std::string_view message,
                     const std::vector<LogField>& fields) {
  if (form == LogForm::kJson) {
    json::object line{{"time", with_millis(now)},
                      {"level", kube::jview(name_of_level(level))},
                      {"msg", kube::jview(message)}};
    for (const LogField& field : fields) line[kube::jview(field.name)] = field.value;
    return json::serialize(line) + "\n";
  }
  std::string line = fmt::format("{} {:5} ", with_millis(now), name_of_level(level));
  for (char c : message) line += c == '\n' ? ' ' : c;
  for (const LogField& field : fields) line += fmt::format(" {}={}", field.name, as_value(field.value));
  return line + "\n";
}

void Log::say(LogLevel level, std::string_view message, const std::vector<LogField>& fields) {
  if (!says(level)) return;
  std::string line = log_line(form_, level, wall_clock(), message, fields);
  std::lock_guard lock(mutex_);
  out_ << line << std::flush;
}

}  // namespace trainyard::cli
