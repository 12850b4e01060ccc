#include "cli/last_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/output_log.h"
#include "dialect/shared/pod_template.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::cli {

std::string replica_of(const dialect::Dialect& dialect, const json::object& pod) {
  std::optional<dialect::PodIdentity> identity = dialect.identify(pod);
  return identity ? fmt::format("{}-{}", identity->role, identity->index) : std::string(kube::name_of(pod));
}

std::string last_words(const node::LogFolder& kept, const dialect::Dialect& dialect, const json::object& job,
                       std::string_view replica) {
  std::string_view ns = kube::namespace_of(job);
  std::string name;       // of its pods: all have the same
  std::string container;  // their main one
  std::set<std::string, std::less<>> uids;
  for (const json::object& pod : kept.remembered(ns)) {
    if (kube::controller_uid_of(pod) != kube::uid_of(job) || replica_of(dialect, pod) != replica) continue;
    name = kube::name_of(pod);
    if (const json::object* main = dialect::main_container(pod, dialect.main_container)) {
      container = kube::text_at(*main, {"name"});
    }
    uids.emplace(kube::uid_of(pod));
  }
  if (uids.empty()) return "";
  std::vector<node::KeptLog> logs = kept.kept(ns, name);
  auto last = std::find_if(logs.rbegin(), logs.rend(), [&](const node::KeptLog& log) {
    return log.container == container && uids.contains(log.pod_uid) && !log.attempts.empty();
  });
  if (last == logs.rend()) return "";
  PrefixedLines indented("  ");
  std::string text = indented.feed(
      node::last_lines(kept.file(ns, name, last->pod_uid, last->container, last->attempts.back()),
                       kLastWordsLinesMax, kLastWordsBytesMax));
  return text + indented.finish();
}

}  // namespace trainyard::cli
