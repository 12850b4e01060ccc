#include "cli/output_log.h"

#include <fmt/format.h>

#include "kube/request.h"

namespace trainyard::cli {
namespace {

std::string pod_path(std::string_view ns, std::string_view pod, std::string_view what) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}/{}", kube::percent_encode(ns), kube::percent_encode(pod),
                     what);
}

void add(std::string& query, std::string_view name, std::string_view value) {
  query += fmt::format("{}{}={}", query.empty() ? "?" : "&", name, kube::percent_encode(value));
}

}  // namespace

std::string log_path(std::string_view ns, std::string_view pod, const LogAsk& ask) {
  std::string query;
  if (!ask.container.empty()) add(query, "container", ask.container);
  if (ask.follow) add(query, "follow", "true");
  if (ask.previous) add(query, "previous", "true");
  if (ask.timestamps) add(query, "timestamps", "true");
  if (ask.tail) add(query, "tailLines", fmt::format("{}", *ask.tail));
  // The API takes whole seconds, at least one.
  if (ask.since)
    add(query, "sinceSeconds", fmt::format("{}", std::max<int64_t>(1, ask.since->count() / 1000)));
  return pod_path(ns, pod, "log") + query;
}

std::string exec_path(std::string_view ns, std::string_view pod, std::string_view container,
                      const std::vector<std::string>& command, bool in, bool tty) {
  std::string query;
  for (const std::string& word : command) add(query, "command", word);
  if (!container.empty()) add(query, "container", container);
  if (in) add(query, "stdin", "true");
  add(query, "stdout", "true");
  if (tty) {
    add(query, "tty", "true");
  } else {
    add(query, "stderr", "true");
  }
  return pod_path(ns, pod, "exec") + query;
}

std::string PrefixedLines::feed(std::string_view bytes) {
  std::string out;
  lines_.feed(bytes, [&](std::string_view line) {
    out += prefix_;
    out += line;
    out += '\n';
    return true;
  });
  return out;
}

std::string PrefixedLines::finish() {
  if (lines_.rest().empty()) return "";
  std::string out = prefix_ + lines_.rest() + "\n";
  lines_ = {};
  return out;
}

}  // namespace trainyard::cli
