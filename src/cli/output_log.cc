#include "cli/output_log.h"

#include <fmt/format.h>

#include <algorithm>

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

void ShownLines::feed(std::string_view bytes, const Line& line) {
  while (!bytes.empty()) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    const size_t taken = std::min(end, kLineShownMax - begun_.size());
    begun_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    if (bytes.empty()) return;
    if (bytes.front() == '\n') bytes.remove_prefix(1);
    line(begun_);
    begun_.clear();
  }
}

void ShownLines::finish(const Line& line) {
  if (!begun_.empty()) line(begun_);
  begun_.clear();
}

std::string PrefixedLines::with_prefix(std::string_view line) const {
  return fmt::format("{}{}\n", prefix_, line);
}

std::string PrefixedLines::feed(std::string_view bytes) {
  std::string out;
  lines_.feed(bytes, [&](std::string_view line) { out += with_prefix(line); });
  return out;
}

std::string PrefixedLines::finish() {
  std::string out;
  lines_.finish([&](std::string_view line) { out += with_prefix(line); });
  return out;
}

}  // namespace trainyard::cli
