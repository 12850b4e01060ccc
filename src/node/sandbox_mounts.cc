#include "node/sandbox_mounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "kube/access.h"

namespace trainyard::node {
namespace {

json::object mount(std::string_view target, std::string_view type, std::string_view source,
                   const std::vector<std::string>& options) {
  json::object to;
  to["destination"] = kube::jview(target);
  to["type"] = kube::jview(type);
  to["source"] = kube::jview(source);
  to["options"] = json::value_from(options);
  return to;
}

json::object bound(std::string_view target, const std::filesystem::path& source, bool read_only) {
  return mount(target, "bind", source.string(), {"rbind", "rprivate", read_only ? "ro" : "rw"});
}

bool at_or_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

void add_kernel_mounts(const ContainerPlan& plan, const SandboxFacts& facts, json::array& to) {
  to.push_back(mount("/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}));
  if (plan.privileged) {
    to.push_back(bound("/dev", "/dev", false));
  } else {
    to.push_back(mount("/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}));
    std::vector<std::string> pts = {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"};
    // The group of terminals is not one of a single user's.
    if (!facts.user_namespace) pts.push_back("gid=5");
    to.push_back(mount("/dev/pts", "devpts", "devpts", pts));
    to.push_back(mount("/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}));
  }
  to.push_back(bound("/dev/shm", facts.shm, false));
  std::vector<std::string> sys = {"nosuid", "noexec", "nodev"};
  if (!plan.privileged) sys.push_back("ro");
  // The kernel shows its settings to whoever owns the network that they are about.
  if (facts.user_namespace && facts.network_ns.empty()) {
    to.push_back(bound("/sys", "/sys", true));
  } else {
    to.push_back(mount("/sys", "sysfs", "sysfs", sys));
  }
  if (facts.cgroups) to.push_back(mount("/sys/fs/cgroup", "cgroup", "cgroup", sys));
}

void add_host_mounts(const ContainerPlan& plan, const SandboxFacts& facts, json::array& to) {
  if (!facts.host_root) return;
  for (const HostLayer& layer : facts.host_layers) {
    if (layer.upper.empty()) {
      to.push_back(bound(layer.target, layer.target, true));
      continue;
    }
    std::vector<std::string> options = {fmt::format("lowerdir={}", layer.target),
                                        fmt::format("upperdir={}", layer.upper.string()),
                                        fmt::format("workdir={}", layer.work.string())};
    if (facts.user_namespace) options.push_back("userxattr");
    to.push_back(mount(layer.target, "overlay", "overlay", options));
  }
  to.push_back(mount("/run", "tmpfs", "tmpfs", {"nosuid", "nodev", "mode=755"}));
  for (const std::string& folder : facts.hidden) {
    // A volume that covers the folder covers what hides it, and the OCI runtime would not find it again.
    bool covered = std::any_of(plan.mounts.begin(), plan.mounts.end(),
                               [&](const Mount& one) { return at_or_below(folder, one.target); });
    if (covered) continue;
    to.push_back(
        mount(folder, "tmpfs", "tmpfs", {"ro", "nosuid", "nodev", "noexec", "mode=0555", "size=4k"}));
  }
}

json::object planned(const Mount& from) {
  if (!from.memory || !from.source.empty()) return bound(from.target, from.source, from.read_only);
  std::vector<std::string> options = {"nosuid", "nodev", "mode=1777"};
  if (from.memory_bytes) options.push_back(fmt::format("size={}", *from.memory_bytes));
  if (from.read_only) options.push_back("ro");
  return mount(from.target, "tmpfs", "tmpfs", options);
}

// mountinfo writes a space as \040, and so on.
std::string unescape(std::string_view text) {
  std::string to;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      to.push_back(
          static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0')));
      i += 3;
    } else {
      to.push_back(text[i]);
    }
  }
  return to;
}

struct MountLine {
  std::string target;
  std::string type;
};

// A line is "id parent major:minor root target options [optional...] - type source options".
std::vector<MountLine> parse(std::string_view mountinfo) {
  std::vector<MountLine> lines;
  while (!mountinfo.empty()) {
    size_t end = std::min(mountinfo.find('\n'), mountinfo.size());
    std::string_view line = mountinfo.substr(0, end);
    mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
    size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view type = line.substr(dash + 3);
    type = type.substr(0, type.find(' '));
    for (int field = 0; field < 4; ++field) {
      line.remove_prefix(std::min(line.find(' ') + 1, line.size()));
    }
    lines.push_back({unescape(line.substr(0, line.find(' '))), std::string(type)});
  }
  return lines;
}

// Holds what people keep, as opposed to what the kernel shows.
bool is_real(std::string_view type) {
  constexpr std::array<std::string_view, 15> kReal = {"ext2", "ext3", "ext4", "xfs",      "btrfs",
                                                      "zfs",  "f2fs", "vfat", "nfs",      "nfs4",
                                                      "cifs", "ceph", "9p",   "virtiofs", "bcachefs"};
  return std::find(kReal.begin(), kReal.end(), type) != kReal.end();
}

}  // namespace

json::array sandbox_mounts(const ContainerPlan& plan, const SandboxFacts& facts) {
  json::array ours;
  add_kernel_mounts(plan, facts, ours);
  add_host_mounts(plan, facts, ours);
  ours.push_back(bound("/etc/hosts", facts.hosts, false));
  ours.push_back(bound("/etc/hostname", facts.hostname, false));
  ours.push_back(bound("/etc/resolv.conf", facts.resolv_conf, false));
  std::set<std::string_view> taken;
  for (const Mount& from : plan.mounts) taken.insert(from.target);
  json::array to;
  for (json::value& one : ours) {
    std::string_view target = kube::text_at(one.as_object(), {"destination"});
    if (!taken.contains(target)) to.push_back(std::move(one));
  }
  for (const Mount& from : plan.mounts) to.push_back(planned(from));
  return to;
}

std::vector<std::string> host_layer_targets(std::string_view mountinfo,
                                            const std::vector<std::string>& leave_out) {
  std::set<std::string> targets;
  for (const MountLine& line : parse(mountinfo)) {
    bool out = line.target == "/" || !is_real(line.type);
    for (const char* folder : {"/proc", "/sys", "/dev", "/run", "/boot"})
      out |= at_or_below(line.target, folder);
    for (const std::string& folder : leave_out) out |= at_or_below(line.target, folder);
    if (!out) targets.insert(line.target);
  }
  return {targets.begin(), targets.end()};
}

std::vector<std::string> mounts_below(std::string_view mountinfo, std::string_view folder) {
  std::vector<std::string> found;
  for (const MountLine& line : parse(mountinfo)) {
    if (at_or_below(line.target, folder)) found.push_back(line.target);
  }
  return found;
}

}  // namespace trainyard::node
