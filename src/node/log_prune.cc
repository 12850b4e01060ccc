#include "node/log_prune.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "node/log_files.h"

namespace trainyard::node {
namespace {

using Folders = std::filesystem::directory_iterator;

// "3.log" of "3.log" and "3.log.2"; "" for what is no log.
std::string run_name(const std::string& file) {
  size_t at = file.find(".log");
  if (at == std::string::npos || at == 0) return "";
  return file.substr(0, at + 4);
}

// The runs of one container, the newest last.
void add_container(const std::filesystem::path& folder, bool pod_lives, std::vector<LogRun>& runs) {
  std::map<std::string, LogRun> found;
  std::error_code error;
  for (Folders it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = run_name(it->path().filename());
    struct stat about {};
    if (name.empty() || ::lstat(it->path().c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
    LogRun& run = found[name];
    run.file = folder / name;
    run.bytes += about.st_size;
    run.written = std::max(run.written, Time{int64_t{about.st_mtim.tv_sec} * 1000});
  }
  size_t first = runs.size();
  for (auto& [name, run] : found) runs.push_back(std::move(run));
  auto last = std::max_element(runs.begin() + static_cast<ptrdiff_t>(first), runs.end(),
                               [](const LogRun& a, const LogRun& b) { return a.written < b.written; });
  if (pod_lives && last != runs.end()) last->live = true;
}

void remove_run(const LogRun& run) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (Folders it(run.file.parent_path(), error), end; !error && it != end; it.increment(error)) {
    if (run_name(it->path().filename()) == run.file.filename()) files.push_back(it->path());
  }
  for (const std::filesystem::path& file : files) std::filesystem::remove(file, error);
}

// A container's folder that holds nothing more, and its pod's when nothing but its
// description is left there.
void remove_if_empty(const std::filesystem::path& container) {
  std::error_code error;
  std::filesystem::path pod = container.parent_path();
  if (!std::filesystem::remove(container, error)) return;
  for (Folders it(pod, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename() != kAboutPod) return;
  }
  std::filesystem::remove(pod / kAboutPod, error);
  std::filesystem::remove(pod, error);
}

}  // namespace

std::vector<size_t> runs_to_prune(const std::vector<LogRun>& runs, const LogLimits& limits, Time now) {
  std::vector<size_t> order(runs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // order: written asc, place asc
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return runs[a].written < runs[b].written; });
  int64_t kept = 0;
  for (const LogRun& run : runs) kept += run.bytes;
  std::vector<size_t> gone;
  for (size_t i : order) {
    bool too_old = now - runs[i].written > limits.age_max;
    if (runs[i].live || (!too_old && kept <= limits.bytes_max)) continue;
    gone.push_back(i);
    kept -= runs[i].bytes;
  }
  return gone;
}

std::vector<LogRun> log_runs(const std::filesystem::path& root,
                             const std::function<bool(const std::string& uid)>& is_live) {
  std::vector<LogRun> runs;
  std::error_code error, ignored;
  for (Folders ns(root, error), end; !error && ns != end; ns.increment(error)) {
    std::error_code inner;
    for (Folders pod(ns->path(), inner); !inner && pod != end; pod.increment(inner)) {
      std::string name = pod->path().filename();
      size_t cut = name.rfind('_');
      bool lives = cut != std::string::npos && is_live(name.substr(cut + 1));
      std::error_code innermost;
      for (Folders each(pod->path(), innermost); !innermost && each != end; each.increment(innermost)) {
        if (each->is_directory(ignored)) add_container(each->path(), lives, runs);
      }
    }
  }
  return runs;
}

int64_t prune_logs(const std::filesystem::path& root, const LogLimits& limits, Time now,
                   const std::function<bool(const std::string& uid)>& is_live) {
  std::vector<LogRun> runs = log_runs(root, is_live);
  int64_t freed = 0;
  for (size_t i : runs_to_prune(runs, limits, now)) {
    remove_run(runs[i]);
    remove_if_empty(runs[i].file.parent_path());
    freed += runs[i].bytes;
  }
  return freed;
}

}  // namespace trainyard::node
