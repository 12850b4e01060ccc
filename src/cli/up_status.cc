// `trainyard status`: what a person wants to know of the plane at a glance.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "cli/complain.h"
#include "cli/connect.h"
#include "cli/data_dir.h"
#include "cli/output_job.h"
#include "cli/plane.h"
#include "cli/plane_node.h"
#include "cli/up.h"
#include "cli/verbs_find.h"
#include "kube/access.h"
#include "node/shims.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kStatusVersion = TRAINYARD_VERSION;

int64_t bytes_below(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error))
    return static_cast<int64_t>(std::filesystem::file_size(path, error));
  int64_t bytes = 0;
  for (std::filesystem::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored) && !it->is_symlink(ignored))
      bytes += static_cast<int64_t>(it->file_size(ignored));
  }
  return bytes;
}

std::string size_in_words(int64_t bytes) {
  if (bytes < 1 << 20) return fmt::format("{} KB", (bytes + 1023) / 1024);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / (1 << 20));
}

// "3 running, 1 failed"; "none" for nothing.
std::string counts_in_words(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [word, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  return text.empty() ? "none" : text;
}

std::string_view word_for(Standing standing) {
  switch (standing) {
    case Standing::kPending:
      return "pending";
    case Standing::kRunning:
      return "running";
    case Standing::kPaused:
      return "paused";
    case Standing::kSucceeded:
      return "succeeded";
    case Standing::kFailed:
      return "failed";
  }
  return "";
}

// What the plane itself says: its runtime, its jobs, its pods.
void tell_world(const Cluster& cluster, const Console& console) {
  auto line = [&](std::string_view key, std::string_view text) {
    console.out << fmt::format("  {:<11} {}\n", key, text);
  };
  Result<client::Object> node = client::get(cluster.client, kube::kNodes, "", kNodeName);
  if (node.ok()) {
    std::string_view runtime = kube::text_at(**node, {"status", "nodeInfo", "containerRuntimeVersion"});
    line("runtime", runtime.substr(0, runtime.find(':')));
  }
  std::map<std::string, int> jobs, pods;
  Result<std::vector<FoundJob>> found = list_jobs(cluster, nullptr, {});
  if (found.ok()) {
    for (const FoundJob& job : *found)
      ++jobs[std::string(word_for(status_of(*job.dialect, *job.object).standing))];
    line("jobs", counts_in_words(jobs));
  }
  Result<client::Reply> listed = client::list(cluster.client, kube::kPods, "");
  if (!listed.ok()) return line("trouble", listed.error().message);
  for (const client::Object& pod : listed->items) {
    std::string phase(kube::text_at(*pod, {"status", "phase"}));
    for (char& c : phase) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    ++pods[phase.empty() ? "pending" : phase];
  }
  line("pods", counts_in_words(pods));
}

}  // namespace

std::string orphans_in_words(const DataDir& dir) {
  int running = node::pods_running_below(dir.pods());
  if (running == 0) return "";
  return fmt::format("{} of its replicas still run{}: '{}' takes {} over\n", running, running == 1 ? "s" : "",
                     up_command(dir), running == 1 ? "it" : "them");
}

std::vector<std::string> killed_runs_in_words(const std::filesystem::path& runs) {
  std::vector<std::string> lines;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(runs, ignored)) {
    const DataDir run{entry.path()};
    const int running = node::pods_running_below(run.pods());
    if (running == 0 || holder_of(run) != 0) continue;
    const bool is_one = running == 1;
    lines.push_back(fmt::format("{} of a run that was killed still {}: '{}' takes {} over",
                                is_one ? "1 replica" : fmt::format("{} replicas", running),
                                is_one ? "runs" : "run", up_command(run), is_one ? "it" : "them"));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

int plane_status(const PlaneStatus& command, const Console& console) {
  Result<DataDir> dir = data_dir_of(command.data_dir);
  if (!dir.ok()) return complain(console, dir.error());
  int holder = holder_of(*dir);
  if (holder == 0) {
    console.out << fmt::format("no plane is up in {}; '{}' starts one\n", dir->root.string(),
                               up_command(*dir))
                << orphans_in_words(*dir);
    for (const std::string& words : killed_runs_in_words(dir->runs())) console.out << words << "\n";
    return kInputAtFault;
  }
  Target target;
  target.data_dir = dir->root.string();
  target.all_namespaces = true;
  Result<std::unique_ptr<Connection>> connection = connect(target);
  if (!connection.ok()) {
    console.out << fmt::format(
        "no plane answers in {}; process {} has it: a 'trainyard run', or a plane that starts or ends\n",
        dir->root.string(), holder);
    return kInputAtFault;
  }
  auto line = [&](std::string_view key, std::string_view text) {
    console.out << fmt::format("  {:<11} {}\n", key, text);
  };
  console.out << fmt::format("a plane is up in {}\n", dir->root.string());
  line("version", kStatusVersion);
  line("process", std::to_string(holder));
  struct stat about {};
  if (::stat(dir->lock().c_str(), &about) == 0) {
    Time since{int64_t{about.st_mtim.tv_sec} * 1000};
    line("since", fmt::format("{} ({} ago)", format_rfc3339(since), format_duration(wall_clock() - since)));
  }
  line("kubeconfig", dir->kubeconfig().string());
  line("address", (*connection)->server());
  tell_world((*connection)->cluster(), console);
  int64_t store = bytes_below(dir->store());
  for (const char* more : {"-wal", "-shm"}) store += bytes_below(dir->store().string() + more);
  line("store", size_in_words(store));
  line("logs", size_in_words(bytes_below(dir->logs())));
  for (const std::string& words : killed_runs_in_words(dir->runs())) console.out << words << "\n";
  return kFine;
}

}  // namespace trainyard::cli
