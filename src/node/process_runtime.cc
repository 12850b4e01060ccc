#include "node/process_runtime.h"
#include "node/oci_spec.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "kube/access.h"
#include "kube/json.h"
#include "node/files.h"
#include "node/relocate.h"
#include "node/volumes.h"

namespace trainyard::node {

namespace {

constexpr const char* kProcessPodFile = "pod.json";
constexpr const char* kPodIp = "127.0.0.1";
// Where the svc plugin of a Volcano job puts the names of its tasks.
constexpr std::string_view kVolcanoHosts = "/etc/volcano";
constexpr const char* kVolcanoWords =
    "host names from /etc/volcano do not resolve, and tasks share the machine's ports: tasks that find "
    "each other by them need sandboxes";
constexpr const char* kLocalPortEnv = "TRAINYARD_LOCAL_PORT";

// TensorFlow listens on every address, so every address must be free.
bool is_port_free(int port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(static_cast<uint16_t>(port));
  return fd.valid() && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
}

std::string_view env_of(const ContainerPlan& plan, std::string_view name) {
  std::string_view value;
  for (const auto& entry : plan.env) {
    if (entry.first == name) value = entry.second;
  }
  return value;
}

void set_env(std::vector<std::pair<std::string, std::string>>& env, const std::string& name,
             const std::string& value) {
  for (auto& entry : env) {
    if (entry.first == name) {
      entry.second = value;
      return;
    }
  }
  env.emplace_back(name, value);
}

std::string words_about(const std::string& container, const Mount& mount) {
  if (!is_relocated(mount)) {
    return fmt::format("container {}: {} is the machine's own, without the volume's size limit", container,
                       mount.target);
  }
  return fmt::format(
      "container {}: nothing is mounted at {}; paths there are rewritten in its command and "
      "environment to where the volume's files are{}",
      container, mount.target, mount.memory ? ", on disk and without its size limit" : "");
}

// Where it starts, "" for a folder of its own; nullopt when the machine has no such folder.
// One that lies in a volume can be made.
std::optional<std::string> working_folder(const ContainerPlan& plan) {
  std::string here = relocated(plan.working_dir, plan.mounts);
  bool in_volume = here != plan.working_dir;
  std::error_code error;
  if (here.empty() || in_volume || std::filesystem::is_directory(here, error)) return here;
  return std::nullopt;
}

// Adds up a process and everything it started.
void add_usage(int64_t pid, int depth, Usage& usage) {
  constexpr int kDepthMax = 64;
  if (depth > kDepthMax) return;
  Result<std::string> stat = read_whole(fmt::format("/proc/{}/stat", pid));
  if (!stat.ok()) return;
  size_t at = stat->rfind(')');
  if (at == std::string::npos) return;
  // After the name and the state comes field 4; utime stime cutime cstime are 14 to 17, rss is 24.
  std::vector<int64_t> fields;
  constexpr size_t kFields = 21;
  for (const char* text = stat->c_str() + at + 3; *text != '\0' && fields.size() < kFields;) {
    char* end = nullptr;
    fields.push_back(std::strtoll(text, &end, 10));
    text = end == text ? text + 1 : end;
  }
  if (fields.size() < kFields) return;
  int64_t ticks = fields[10] + fields[11] + fields[12] + fields[13];
  usage.cpu_nanos_total += ticks * (1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  usage.memory_bytes += fields[20] * ::sysconf(_SC_PAGESIZE);
  Result<std::string> children = read_whole(fmt::format("/proc/{}/task/{}/children", pid, pid));
  if (!children.ok()) return;
  const char* text = children->c_str();
  for (char* end = nullptr;; text = end) {
    long child = std::strtol(text, &end, 10);
    if (end == text) return;
    add_usage(child, depth + 1, usage);
  }
}

}  // namespace

ProcessRuntime::ProcessRuntime(ProcessRuntimeOptions options)
    : options_(std::move(options)), shims_({options_.data_dir / "pods", options_.shim_argv}) {
  Result<std::string> text = read_whole(options_.data_dir / "runtime" / "ports.json");
  if (!text.ok()) return;
  Result<LocalPorts> ports = LocalPorts::from_text(*text);
  if (ports.ok()) ports_ = *ports;
}

ProcessRuntime::~ProcessRuntime() = default;

std::vector<std::string> ProcessRuntime::cannot_honour(const PodPlan& pod,
                                                       const std::vector<ContainerPlan>& containers) const {
  std::vector<std::string> words;
  auto say = [&](std::string text) {
    if (std::find(words.begin(), words.end(), text) == words.end()) words.push_back(std::move(text));
  };
  if (!pod.sysctls.empty()) say("sysctls are not set: processes share the machine's kernel settings");
  for (const ContainerPlan& plan : containers) {
    const std::string& name = plan.id.container;
    if (plan.argv.empty()) say(no_command_words(plan));
    if (!plan.image.empty())
      say(fmt::format("image {} is not used: plain processes run on the host's own root", plan.image));
    for (const Mount& mount : plan.mounts) {
      if (mount.source == mount.target || mount.source == plan.termination_file) continue;
      say(words_about(name, mount));
      if (mount.target == kVolcanoHosts) say(kVolcanoWords);
    }
    if (!working_folder(plan)) {
      say(fmt::format("container {}: {} is not on this machine; it starts in a folder of its own", name,
                      plan.working_dir));
    }
    if (plan.limits.memory_bytes) say(fmt::format("container {}: the memory limit is not enforced", name));
    if (plan.limits.cpu_millis) say(fmt::format("container {}: the CPU limit is not enforced", name));
    if (plan.read_only_root) say(fmt::format("container {}: the root file system is writable", name));
    if (plan.privileged || plan.no_new_privileges || plan.capabilities != CapabilityWishes{}) {
      say(fmt::format("container {}: it has the privileges and capabilities of this user", name));
    }
    if (plan.non_root && !plan.run_as_user && ::geteuid() == 0) {
      say(fmt::format("container {}: runs as root, although runAsNonRoot is set; runAsUser names another",
                      name));
    }
    if (!plan.more_groups.empty() && plan.run_as_user)
      say(fmt::format("container {}: fsGroup and supplementalGroups are not given to it", name));
    if (plan.run_as_user && ::geteuid() != 0 && *plan.run_as_user != static_cast<int64_t>(::geteuid())) {
      say(fmt::format("container {}: runs as this user, not as user {}", name, *plan.run_as_user));
    }
  }
  return words;
}

Result<std::string> ProcessRuntime::prepare(const PodPlan& pod) {
  std::filesystem::path folder = options_.data_dir / "pods" / pod.uid;
  if (std::filesystem::exists(folder / kProcessPodFile)) return std::string(kPodIp);
  Result<Done> made = make_folders(folder);
  if (!made.ok()) return made.error();
  json::object about{{"namespace", pod.ns}, {"name", pod.name}};
  Result<Done> written = write_soon(folder / kProcessPodFile, json::serialize(about));
  if (!written.ok()) return written.error();
  return std::string(kPodIp);
}

// Names are not resolved here: whoever needs them has them in TF_CONFIG.
Result<Done> ProcessRuntime::set_hosts(const std::string&, const std::map<std::string, std::string>&) {
  return Done{};
}

std::string ProcessRuntime::namespace_of(const std::string& pod_uid) const {
  Result<std::string> text = read_whole(options_.data_dir / "pods" / pod_uid / kProcessPodFile);
  if (!text.ok()) return "";
  boost::system::error_code error;
  json::value about = json::parse(*text, error);
  if (error || !about.is_object()) return "";
  return std::string(kube::text_at(about.get_object(), {"namespace"}));
}

// address as written -> address on loopback.
Result<std::map<std::string, std::string>> ProcessRuntime::claim_ports(const ContainerPlan& plan) {
  std::map<std::string, std::string> local;
  std::vector<std::string> addresses = addresses_in(env_of(plan, "TF_CONFIG"));
  if (addresses.empty()) return local;
  std::string ns = namespace_of(plan.id.pod_uid);
  std::vector<std::string> keys;
  for (const std::string& address : addresses) keys.push_back(ns + "/" + address);
  std::lock_guard lock(mutex_);
  Result<std::vector<int>> ports = ports_.claim(keys, plan.id.pod_uid, is_port_free);
  if (!ports.ok()) return ports.error();
  for (size_t i = 0; i < addresses.size(); ++i) {
    local[addresses[i]] = fmt::format("{}:{}", kPodIp, (*ports)[i]);
  }
  // A machine that loses power loses the processes with their ports.
  Result<Done> made = make_folders(options_.data_dir / "runtime");
  if (made.ok()) made = write_soon(options_.data_dir / "runtime" / "ports.json", ports_.to_text());
  if (!made.ok()) return made.error();
  return local;
}

Result<ShimPlan> ProcessRuntime::shim_plan(const ContainerPlan& plan) {
  if (plan.argv.empty()) {
    return Error{ErrorKind::kInvalid,
                 fmt::format("container {}: no command, and its image {} is not used here", plan.id.container,
                             plan.image)};
  }
  Result<std::map<std::string, std::string>> local = claim_ports(plan);
  if (!local.ok()) return local.error();
  ShimPlan shim;
  auto here = [&](const std::string& text) {
    return relocated(replace_addresses(text, *local), plan.mounts);
  };
  for (const std::string& word : plan.argv) shim.argv.push_back(here(word));
  shim.env = options_.base_env;
  for (const auto& [name, value] : plan.env) set_env(shim.env, name, here(value));
  std::optional<std::string> own = own_address(env_of(plan, "TF_CONFIG"));
  if (own) {
    // "2222=127.0.0.1:20007": where the port that the manifest speaks of really is.
    set_env(shim.env, kLocalPortEnv,
            fmt::format("{}={}", port_of(*own).value_or(0), local->contains(*own) ? local->at(*own) : *own));
  }
  shim.cwd = working_folder(plan).value_or("");
  if (shim.cwd != plan.working_dir && !shim.cwd.empty()) {
    if (Result<Done> made = make_folders(shim.cwd); !made.ok()) return made.error();
  }
  if (::geteuid() == 0) {
    shim.uid = plan.run_as_user;
    shim.gid = plan.run_as_group ? plan.run_as_group : plan.run_as_user;
  }
  shim.log_file = plan.log_file;
  shim.tty = plan.tty;
  shim.stdin_open = plan.stdin_open;
  return shim;
}

Result<Done> ProcessRuntime::start(const ContainerPlan& plan) {
  if (shims_.find(plan.id)) return Done{};
  ContainerPlan here = plan;
  if (Result<Done> found = find_memory_folders(here.mounts); !found.ok()) return found;
  Result<ShimPlan> shim = shim_plan(here);
  if (!shim.ok()) return shim.error();
  return shims_.start(plan.id, *shim);
}

std::vector<ContainerStatus> ProcessRuntime::list() { return shims_.list(); }
std::vector<ContainerStatus> ProcessRuntime::list(const std::string& pod_uid) { return shims_.list(pod_uid); }
int ProcessRuntime::changes() const { return shims_.changes(); }
void ProcessRuntime::drain_changes() { shims_.drain_changes(); }
Result<Done> ProcessRuntime::signal(const ContainerId& id, int signal) {
  return shims_.signal(id, signal, Reach::kGroup);
}
Result<Done> ProcessRuntime::remove(const ContainerId& id) { return shims_.remove(id); }

Result<Done> ProcessRuntime::release_ports(const std::string& pod_uid) {
  std::lock_guard lock(mutex_);
  LocalPorts before = ports_;
  ports_.release(pod_uid);
  if (ports_ == before) return Done{};
  return write_soon(options_.data_dir / "runtime" / "ports.json", ports_.to_text());
}

Result<Done> ProcessRuntime::destroy(const std::string& pod_uid) {
  Result<Done> done = shims_.destroy(pod_uid);
  if (!done.ok()) return done;
  if (Result<Done> released = release_ports(pod_uid); !released.ok()) return released;
  std::error_code error;
  std::filesystem::remove(options_.data_dir / "pods" / pod_uid / kProcessPodFile, error);
  return Done{};
}

std::vector<std::string> ProcessRuntime::pods() {
  std::vector<std::string> uids;
  std::error_code error;
  for (std::filesystem::directory_iterator it(options_.data_dir / "pods", error), end; !error && it != end;
       it.increment(error)) {
    if (std::filesystem::exists(it->path() / kProcessPodFile)) uids.push_back(it->path().filename());
  }
  std::sort(uids.begin(), uids.end());
  return uids;
}

Result<std::unique_ptr<ExecProcess>> ProcessRuntime::exec(const ContainerId& id, const ExecPlan& plan) {
  std::optional<ContainerStatus> status = shims_.find(id);
  if (!status || status->phase != ContainerPhase::kRunning) {
    return Error{ErrorKind::kNotFound, fmt::format("container {} does not run", id.container)};
  }
  if (plan.argv.empty()) return shims_.attach(id, plan);
  Result<ShimPlan> shim = shims_.plan(id);
  if (!shim.ok()) return shim.error();
  shim.value().argv = plan.argv;
  shim.value().tty = plan.tty;
  shim.value().stdin_open = plan.in;
  if (plan.tty) {
    std::erase_if(shim.value().env, [](const auto& variable) { return variable.first == "TERM"; });
    shim.value().env.emplace_back("TERM", "xterm");
  }
  return run_beside(*shim);
}

Result<Fd> ProcessRuntime::connect(const std::string& pod_uid, int port) {
  int local = port;
  for (const ContainerStatus& status : shims_.list()) {
    if (status.id.pod_uid != pod_uid) continue;
    Result<ShimPlan> plan = shims_.plan(status.id);
    if (!plan.ok()) continue;
    for (const auto& [name, value] : plan->env) {
      if (name == kLocalPortEnv && value.starts_with(fmt::format("{}=", port))) {
        local = port_of(value).value_or(port);
      }
    }
  }
  return connect_tcp(kPodIp, local);
}

std::optional<Usage> ProcessRuntime::usage(const ContainerId& id) {
  std::optional<ShimState> state = shims_.state(id);
  if (!state) return std::nullopt;
  Usage usage;
  add_usage(state->pid, 0, usage);
  return usage;
}

}  // namespace trainyard::node
