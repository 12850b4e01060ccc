#include "node/oci_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "kube/access.h"
#include "node/capabilities.h"
#include "node/sandbox_mounts.h"

namespace trainyard::node {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

constexpr std::array<std::string_view, 10> kMaskedPaths = {
    "/proc/acpi",        "/proc/asound",     "/proc/kcore", "/proc/keys",    "/proc/latency_stats",
    "/proc/sched_debug", "/proc/timer_list", "/proc/scsi",  "/sys/firmware", "/sys/devices/virtual/powercap"};

constexpr std::array<std::string_view, 5> kReadOnlyPaths = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                                            "/proc/sysrq-trigger"};

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t n = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (failure != std::errc() || end != text.data() + text.size() || n < 0) return std::nullopt;
  return n;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Of a passwd or group file: the fields of the first line whose field `column` is `value`.
std::optional<std::vector<std::string_view>> find_line(std::string_view file, size_t column,
                                                       std::string_view value) {
  for (std::string_view line : split(file, '\n')) {
    std::vector<std::string_view> fields = split(line, ':');
    if (fields.size() >= 4 && fields[column] == value) return fields;
  }
  return std::nullopt;
}

std::vector<int64_t> groups_of(std::string_view name, std::string_view group_file) {
  std::vector<int64_t> gids;
  for (std::string_view line : split(group_file, '\n')) {
    std::vector<std::string_view> fields = split(line, ':');
    if (fields.size() < 4) continue;
    std::vector<std::string_view> members = split(fields[3], ',');
    std::optional<int64_t> gid = whole_number(fields[2]);
    if (gid && std::find(members.begin(), members.end(), name) != members.end()) gids.push_back(*gid);
  }
  return gids;
}

template <typename Strings>
json::array strings(const Strings& from) {
  json::array array;
  for (const auto& text : from) array.emplace_back(kube::jview(text));
  return array;
}

json::object capabilities(const ContainerPlan& plan, const UserIds& user, int cap_last) {
  json::array held = strings(capabilities_of(plan.capabilities, plan.privileged, cap_last));
  json::object sets;
  sets["bounding"] = held;
  // Whoever is not root gains them by a set-uid program only, as everywhere on Unix.
  sets["effective"] = user.uid == 0 ? held : json::array();
  sets["permitted"] = user.uid == 0 ? held : json::array();
  return sets;
}

// What the image's own user is nobody knows where the host's root stands in for it: see cannot_honour().
Result<UserIds> user_of(const ContainerPlan& plan, const ImageConfig& image, const UserFiles& files,
                        bool is_stand_in) {
  std::string wanted = image.user;
  if (plan.run_as_user) wanted = std::to_string(*plan.run_as_user);
  Result<UserIds> user = find_user(wanted, files);
  if (!user.ok()) return user;
  if (plan.non_root && !plan.run_as_user && !is_stand_in && user->uid == 0) {
    return Error{ErrorKind::kInvalid, "container has runAsNonRoot and image will run as root"};
  }
  if (plan.run_as_group) user.value().gid = *plan.run_as_group;
  std::vector<int64_t>& groups = user.value().more_gids;
  for (int64_t group : plan.more_groups) {
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return user;
}

json::object process(const PodPlan& pod, const ContainerPlan& plan, const ImageConfig& image,
                     const SandboxFacts& facts, const std::vector<std::string>& argv, const UserIds& user) {
  json::object to;
  to["terminal"] = plan.tty;
  json::object ids{{"uid", user.uid}, {"gid", user.gid}};
  if (!user.more_gids.empty()) ids["additionalGids"] = json::value_from(user.more_gids);
  to["user"] = std::move(ids);
  to["args"] = strings(argv);
  to["env"] = strings(environment(pod, plan, image, !facts.devices.empty()));
  std::string cwd = plan.working_dir.empty() ? image.working_dir : plan.working_dir;
  to["cwd"] = cwd.starts_with('/') ? cwd : "/" + cwd;
  to["capabilities"] = capabilities(plan, user, facts.cap_last);
  to["noNewPrivileges"] = plan.no_new_privileges;
  // When the machine runs out of memory, what asked for no bound goes first.
  to["oomScoreAdj"] = plan.limits.memory_bytes ? 500 : 1000;
  return to;
}

json::object cpu(const Limits& limits) {
  constexpr int64_t kPeriodMicros = 100'000;
  int64_t request = limits.cpu_request_millis > 0 ? limits.cpu_request_millis : limits.cpu_millis.value_or(0);
  json::object to;
  to["shares"] = std::clamp<int64_t>(request * 1024 / 1000, 2, 262'144);
  if (limits.cpu_millis) {
    to["quota"] = std::max<int64_t>(*limits.cpu_millis * kPeriodMicros / 1000, 1000);
    to["period"] = kPeriodMicros;
  }
  return to;
}

json::array device_rules(const ContainerPlan& plan, const SandboxFacts& facts) {
  json::array devices;
  devices.push_back(json::object{{"allow", plan.privileged}, {"access", "rwm"}});
  for (const DeviceNode& device : facts.devices) {
    devices.push_back(json::object{{"allow", true},
                                   {"type", std::string(1, device.type)},
                                   {"major", device.major},
                                   {"minor", device.minor},
                                   {"access", "rw"}});
  }
  return devices;
}

json::object resources(const ContainerPlan& plan, const SandboxFacts& facts) {
  json::object to;
  if (!facts.cgroups) return to;
  // Of devices an ordinary user has what the machine lets him have anyway.
  if (!facts.user_namespace) to["devices"] = device_rules(plan, facts);
  for (json::key_value_pair& limit : oci_limits(plan.limits, facts.limits)) {
    to[limit.key()] = std::move(limit.value());
  }
  to["pids"] = json::object{{"limit", kSandboxPidsMax}};
  return to;
}

json::array namespaces(const SandboxFacts& facts) {
  json::array to;
  json::object processes{{"type", "pid"}};
  if (!facts.pid_ns.empty()) processes["path"] = facts.pid_ns.string();
  to.push_back(std::move(processes));
  to.push_back(json::object{{"type", "mount"}});
  to.push_back(json::object{{"type", "ipc"}, {"path", facts.ipc_ns.string()}});
  to.push_back(json::object{{"type", "uts"}, {"path", facts.uts_ns.string()}});
  if (!facts.network_ns.empty()) {
    to.push_back(json::object{{"type", "network"}, {"path", facts.network_ns.string()}});
  }
  if (facts.cgroup_v2) to.push_back(json::object{{"type", "cgroup"}});
  return to;
}

json::object linux_part(const PodPlan& pod, const ContainerPlan& plan, const SandboxFacts& facts) {
  json::object to;
  to["namespaces"] = namespaces(facts);
  if (facts.cgroups) to["cgroupsPath"] = facts.cgroup_path;
  to["resources"] = resources(plan, facts);
  json::array devices;
  for (const DeviceNode& device : facts.devices) {
    devices.push_back(json::object{{"path", device.path},
                                   {"type", std::string(1, device.type)},
                                   {"major", device.major},
                                   {"minor", device.minor},
                                   {"fileMode", 0666}});
  }
  to["devices"] = std::move(devices);
  if (!pod.sysctls.empty()) {
    json::object sysctls;
    for (const auto& [name, value] : pod.sysctls) sysctls[kube::jview(name)] = value;
    to["sysctl"] = std::move(sysctls);
  }
  if (!plan.privileged) {
    to["maskedPaths"] = strings(kMaskedPaths);
    to["readonlyPaths"] = strings(kReadOnlyPaths);
  }
  return to;
}

}  // namespace

Result<UserIds> find_user(std::string_view text, const UserFiles& files) {
  size_t colon = text.find(':');
  std::string_view user = text.substr(0, colon);
  std::string_view group = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  UserIds ids;
  if (!user.empty()) {
    std::optional<int64_t> uid = whole_number(user);
    auto line = find_line(files.passwd, uid ? 2 : 0, user);
    if (!uid && !line) {
      return Error{ErrorKind::kInvalid, fmt::format("user {} is not in the image's /etc/passwd", user)};
    }
    ids.uid = uid ? *uid : whole_number((*line)[2]).value_or(0);
    if (line) {
      ids.gid = whole_number((*line)[3]).value_or(0);
      ids.more_gids = groups_of((*line)[0], files.group);
    }
  }
  if (!group.empty()) {
    std::optional<int64_t> gid = whole_number(group);
    auto line = gid ? std::nullopt : find_line(files.group, 0, group);
    if (!gid && !line) {
      return Error{ErrorKind::kInvalid, fmt::format("group {} is not in the image's /etc/group", group)};
    }
    ids.gid = gid ? *gid : whole_number((*line)[2]).value_or(0);
  }
  return ids;
}

std::string no_command_words(const ContainerPlan& plan) {
  return fmt::format("container {} has no command, and image {} names none", plan.id.container, plan.image);
}

Result<std::vector<std::string>> command_line(const ContainerPlan& plan, const ImageConfig& image) {
  std::vector<std::string> argv;
  if (plan.argv.empty() || plan.argv_is_args_only) argv = image.entrypoint;
  const std::vector<std::string>& rest = plan.argv.empty() ? image.cmd : plan.argv;
  argv.insert(argv.end(), rest.begin(), rest.end());
  if (argv.empty()) return Error{ErrorKind::kInvalid, no_command_words(plan)};
  return argv;
}

std::vector<std::string> environment(const PodPlan& pod, const ContainerPlan& plan, const ImageConfig& image,
                                     bool own_gpus) {
  std::vector<std::pair<std::string, std::string>> entries = {{"PATH", std::string(kDefaultPath)},
                                                              {"HOSTNAME", pod.hostname}};
  std::map<std::string, size_t> places = {{"PATH", 0}, {"HOSTNAME", 1}};
  auto set = [&](std::string_view name, std::string_view value) {
    auto [place, fresh] = places.try_emplace(std::string(name), entries.size());
    if (fresh) entries.emplace_back(name, "");
    entries[place->second].second = value;
  };
  if (plan.tty) set("TERM", "xterm");
  for (const std::string& entry : image.env) {
    size_t equals = entry.find('=');
    if (equals != std::string::npos) set(entry.substr(0, equals), entry.substr(equals + 1));
  }
  for (const auto& [name, value] : plan.env) set(name, value);
  // The container sees its own devices only, and CUDA counts those that it sees.
  constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";
  if (own_gpus && places.contains(kVisible)) {
    std::string& visible = entries[places[kVisible]].second;
    std::vector<size_t> seen(plan.gpus.size());
    for (size_t i = 0; i < seen.size(); ++i) seen[i] = i;
    if (visible == fmt::format("{}", fmt::join(plan.gpus, ",")))
      visible = fmt::format("{}", fmt::join(seen, ","));
  }
  std::vector<std::string> env;
  for (const auto& [name, value] : entries) env.push_back(name + "=" + value);
  return env;
}

json::object oci_limits(const Limits& limits, const KernelLimits& here) {
  json::object to;
  if (here.cpu) to["cpu"] = cpu(limits);
  if (limits.memory_bytes) {
    json::object memory{{"limit", *limits.memory_bytes}};
    if (here.swap) memory["swap"] = *limits.memory_bytes;
    to["memory"] = std::move(memory);
  }
  return to;
}

Result<json::object> oci_spec(const PodPlan& pod, const ContainerPlan& plan, const ImageConfig& image,
                              const SandboxFacts& facts) {
  Result<std::vector<std::string>> argv = command_line(plan, image);
  if (!argv.ok()) return argv.error();
  Result<UserIds> user = user_of(plan, image, facts.users, facts.host_root);
  if (!user.ok()) return user.error();
  json::object spec;
  spec["ociVersion"] = "1.0.2";
  spec["process"] = process(pod, plan, image, facts, *argv, *user);
  spec["root"] = json::object{{"path", facts.root.string()}, {"readonly", plan.read_only_root}};
  spec["mounts"] = sandbox_mounts(plan, facts);
  spec["linux"] = linux_part(pod, plan, facts);
  return spec;
}

}  // namespace trainyard::node
