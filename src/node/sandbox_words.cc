#include "node/sandbox_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include "node/sandbox_tool.h"

namespace trainyard::node {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// crun paints what it says on a terminal; escape sequences (ESC [ ... letter) and line ends go.
std::string without_colours(std::string_view line) {
  std::string plain;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      while (i + 1 < line.size() && !std::isalpha(static_cast<unsigned char>(line[i]))) ++i;
    } else if (line[i] != '\r') {
      plain.push_back(line[i]);
    }
  }
  return plain;
}

// On a terminal crun also says when ("2026-11-16T03:00:00.123456Z: "), once for each of its processes.
std::string_view without_date(std::string_view line) {
  for (size_t end = line.find("Z: "); end != std::string_view::npos; end = line.find("Z: ")) {
    if (line.substr(0, end).find_first_not_of("0123456789-:.T") != std::string_view::npos) break;
    line.remove_prefix(end + 3);
  }
  return line;
}

}  // namespace

StartVerdict read_start_failure(std::string_view words) {
  std::string last;
  std::istringstream lines{std::string(words)};
  for (std::string line; std::getline(lines, line);) {
    line = without_colours(line);
    if (!line.empty()) last = line;
  }
  StartVerdict verdict;
  verdict.message = message_of(without_date(last));
  for (std::string_view prefix : {"runc run failed: ", "unable to start container process: "}) {
    if (verdict.message.starts_with(prefix)) verdict.message.erase(0, prefix.size());
  }
  const std::string& message = verdict.message;
  if ((has(message, "executable file") && has(message, "not found")) ||
      (has(message, "exec") && has(message, "no such file or directory"))) {
    verdict.exit_code = 127;
  } else if (has(message, "exec") && has(message, "ermission denied")) {
    verdict.exit_code = 126;
  }
  return verdict;
}

std::string foreign_image_words(std::string_view image, std::string_view made_for, std::string_view machine) {
  if (made_for.empty() || made_for == machine) return "";
  return fmt::format("image {} was made for {} and this machine is {}: its programs may not start", image,
                     made_for, machine);
}

std::string resolv_text(std::string_view host, bool outside) {
  if (!outside) return "# This pod has no way to the outside; names come from /etc/hosts.\n";
  std::string text;
  std::istringstream lines{std::string(host)};
  for (std::string line; std::getline(lines, line);) {
    bool loopback = line.starts_with("nameserver 127.") || line.starts_with("nameserver ::1");
    if (!loopback) text += line + "\n";
  }
  return text;
}

std::vector<std::string> foreign_sysctls(const PodPlan& pod) {
  constexpr std::array<std::string_view, 12> kOwn = {
      "fs.mqueue.",        "kernel.shmmax",  "kernel.shmall", "kernel.shmmni",          "kernel.msgmax",
      "kernel.msgmnb",     "kernel.msgmni",  "kernel.sem",    "kernel.shm_rmid_forced", "kernel.auto_msgmni",
      "kernel.domainname", "kernel.hostname"};
  std::vector<std::string> foreign;
  for (const auto& [name, value] : pod.sysctls) {
    bool own =
        std::any_of(kOwn.begin(), kOwn.end(), [&, name = std::string_view(name)](std::string_view one) {
          return one.ends_with('.') ? name.starts_with(one) : name == one;
        });
    if (name.starts_with("net.")) own = !pod.host_network;
    if (!own) foreign.push_back(name);
  }
  return foreign;
}

void add_rootless_words(const std::vector<ContainerPlan>& containers, const Enforced& enforced,
                        std::string_view why, std::vector<std::string>& words) {
  if (enforced.memory) why = "systemd does not hand users the control of CPU here";
  std::string because = why.empty() ? "" : fmt::format(" ({})", why);
  for (const ContainerPlan& plan : containers) {
    const std::string& name = plan.id.container;
    if (plan.limits.memory_bytes && !enforced.memory) {
      words.push_back(
          fmt::format("container {}: the memory limit is not enforced without root{}", name, because));
    }
    if (plan.limits.cpu_millis && !enforced.cpu) {
      words.push_back(
          fmt::format("container {}: the CPU limit is not enforced without root{}", name, because));
    }
    if (plan.run_as_user && *plan.run_as_user != 0) {
      words.push_back(fmt::format("container {}: runs as this user, not as user {}, without root", name,
                                  *plan.run_as_user));
    }
  }
}

}  // namespace trainyard::node
