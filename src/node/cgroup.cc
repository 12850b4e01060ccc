#include "node/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "base/fd.h"
#include "node/files.h"

namespace trainyard::node {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& file) {
  Result<std::string> text = read_whole(file);
  return text.ok() ? *text : "";
}

std::optional<int64_t> leading_number(std::string_view text) {
  int64_t n = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (failure != std::errc()) return std::nullopt;
  return n;
}

bool has_option(std::string_view options, std::string_view name) {
  return ("," + std::string(options) + ",").find("," + std::string(name) + ",") != std::string::npos;
}

bool has_word(const std::string& text, std::string_view word) {
  std::istringstream words(text);
  for (std::string one; words >> one;) {
    if (one == word) return true;
  }
  return false;
}

// The folders at and below one, children first.
std::vector<fs::path> tree(const fs::path& top) {
  std::vector<fs::path> folders;
  std::error_code failure;
  if (!fs::is_directory(top, failure)) return folders;
  for (fs::recursive_directory_iterator it(top, failure), end; !failure && it != end; it.increment(failure)) {
    if (it->is_directory(failure)) folders.push_back(it->path());
  }
  std::reverse(folders.begin(), folders.end());
  folders.push_back(top);
  return folders;
}

}  // namespace

std::optional<CgroupLayout> cgroup_layout(std::string_view mountinfo) {
  CgroupLayout layout;
  std::optional<fs::path> unified;
  std::istringstream lines{std::string(mountinfo)};
  std::string line;
  while (std::getline(lines, line)) {
    size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash));
    std::istringstream after(line.substr(dash + 3));
    std::string skip;
    std::string target;
    std::string type;
    std::string options;
    before >> skip >> skip >> skip >> skip >> target;
    after >> type >> skip >> options;
    if (type == "cgroup2") unified = target;
    if (type != "cgroup") continue;
    layout.mounts.emplace_back(target);
    if (has_option(options, "cpuacct")) layout.cpu_usage = target;
    if (has_option(options, "memory")) layout.memory = target;
  }
  if (!layout.memory.empty() && !layout.cpu_usage.empty()) {
    layout.hybrid = unified.has_value();
    if (unified) layout.mounts.push_back(*unified);
    return layout;
  }
  if (!unified || !layout.mounts.empty()) return std::nullopt;
  return CgroupLayout{true, false, {*unified}, *unified, *unified, "", true};
}

CgroupLayout layout_below(CgroupLayout layout, std::string home) {
  layout.home = std::move(home);
  fs::path controllers = layout.memory / fs::path(layout.home).relative_path() / "cgroup.controllers";
  layout.limits_cpu = has_word(read_file(controllers), "cpu");
  return layout;
}

std::optional<int64_t> cgroup_field(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ') {
      return leading_number(line.substr(name.size() + 1));
    }
  }
  return std::nullopt;
}

Cgroups::Cgroups(CgroupLayout layout) : layout_(std::move(layout)) {}

fs::path Cgroups::folder(const fs::path& mount, const std::string& name) const {
  return mount / fs::path(path_below_mount(name)).relative_path();
}

Result<Done> Cgroups::hand_on_controllers() const {
  fs::path home = folder(layout_.memory, "");
  std::string there = read_file(home / "cgroup.controllers");
  fs::path handed_on = home / "cgroup.subtree_control";
  std::string already = read_file(handed_on);
  std::string missing;
  for (std::string_view name : {"cpu", "memory", "pids"}) {
    if (name == "cpu" && !layout_.limits_cpu) continue;
    if (!has_word(there, name)) {
      return Error{ErrorKind::kForbidden,
                   fmt::format("the control groups in {} cannot limit {}", home.string(), name)};
    }
    if (!has_word(already, name)) missing += fmt::format("{}+{}", missing.empty() ? "" : " ", name);
  }
  if (missing.empty()) return Done{};
  Fd file(::open(handed_on.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.valid() && ::write(file.get(), missing.data(), missing.size()) > 0) return Done{};
  return Error{ErrorKind::kForbidden, fmt::format("control groups below {} cannot be given limits ({}): {}",
                                                  home.string(), missing, ::strerror(errno))};
}

Result<Done> Cgroups::writable() const {
  if (layout_.v2) {
    if (Result<Done> handed_on = hand_on_controllers(); !handed_on.ok()) return handed_on;
  }
  std::string name = fmt::format("/trainyard-probe-{}", ::getpid());
  for (const fs::path& mount : {layout_.memory, layout_.cpu_usage}) {
    fs::path probe = folder(mount, name);
    if (::mkdir(probe.c_str(), 0755) != 0 && errno != EEXIST) {
      return Error{ErrorKind::kForbidden,
                   fmt::format("no control group can be made in {}: {}", mount.string(), ::strerror(errno))};
    }
    ::rmdir(probe.c_str());
  }
  return Done{};
}

bool Cgroups::can_limit_swap() const {
  return layout_.v2 || ::access((layout_.memory / "memory.memsw.limit_in_bytes").c_str(), F_OK) == 0;
}

bool Cgroups::exists(const std::string& name) const {
  return std::any_of(layout_.mounts.begin(), layout_.mounts.end(),
                     [&](const fs::path& mount) { return ::access(folder(mount, name).c_str(), F_OK) == 0; });
}

std::optional<Usage> Cgroups::usage(const std::string& name) const {
  fs::path memory = folder(layout_.memory, name);
  fs::path cpu = folder(layout_.cpu_usage, name);
  std::string stat = read_file(memory / "memory.stat");
  std::optional<int64_t> used =
      leading_number(read_file(memory / (layout_.v2 ? "memory.current" : "memory.usage_in_bytes")));
  std::optional<int64_t> nanos = layout_.v2 ? cgroup_field(read_file(cpu / "cpu.stat"), "usage_usec")
                                            : leading_number(read_file(cpu / "cpuacct.usage"));
  if (!used || !nanos) return std::nullopt;
  int64_t idle = cgroup_field(stat, layout_.v2 ? "inactive_file" : "total_inactive_file").value_or(0);
  return Usage{layout_.v2 ? *nanos * 1000 : *nanos, std::max<int64_t>(*used - idle, 0)};
}

int64_t Cgroups::oom_kills(const std::string& name) const {
  fs::path file = folder(layout_.memory, name) / (layout_.v2 ? "memory.events" : "memory.oom_control");
  return cgroup_field(read_file(file), "oom_kill").value_or(0);
}

std::vector<int> Cgroups::processes(const std::string& name) const {
  std::set<int> found;
  for (const fs::path& mount : layout_.mounts) {
    for (const fs::path& group : tree(folder(mount, name))) {
      std::ifstream in(group / "cgroup.procs");
      for (int pid = 0; in >> pid;) found.insert(pid);
    }
  }
  return {found.begin(), found.end()};
}

Result<Done> Cgroups::destroy(const std::string& name) const {
  constexpr int kRounds = 400;
  for (int round = 0; round < kRounds; ++round) {
    // A process that is frozen does not die before it is thawed; nobody freezes ours.
    for (int pid : processes(name)) {
      if (pid > 0) ::kill(pid, SIGKILL);
    }
    bool gone = true;
    for (const fs::path& mount : layout_.mounts) {
      for (const fs::path& group : tree(folder(mount, name))) {
        if (::rmdir(group.c_str()) != 0 && errno != ENOENT) gone = false;
      }
    }
    if (gone) return Done{};
    std::this_thread::sleep_for(std::chrono::milliseconds(round < 20 ? 1 : 10));
  }
  return Error{ErrorKind::kUnavailable, fmt::format("control group {} cannot be emptied", name)};
}

std::vector<std::string> Cgroups::children(const std::string& name) const {
  std::set<std::string> names;
  for (const fs::path& mount : layout_.mounts) {
    std::error_code failure;
    for (fs::directory_iterator it(folder(mount, name), failure), end; !failure && it != end;
         it.increment(failure)) {
      if (it->is_directory(failure)) names.insert(it->path().filename().string());
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace trainyard::node
