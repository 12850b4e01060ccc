#include "node/sandbox_runtime.h"
#include "node/oci_spec.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/hash.h"
#include "kube/access.h"
#include "node/files.h"
#include "node/node_object.h"
#include "node/sandbox_exec.h"
#include "node/sandbox_mounts.h"
#include "node/sandbox_namespaces.h"
#include "node/sandbox_root.h"
#include "node/sandbox_tool.h"
#include "node/sandbox_user.h"
#include "node/sandbox_words.h"
#include "node/volumes.h"

namespace trainyard::node {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSocketPathMax = 107;
constexpr int kStartPatienceMs = 500;
constexpr int kResizePatienceMs = 10'000;

int cap_last() {
  int last = 40;
  std::ifstream("/proc/sys/kernel/cap_last_cap") >> last;
  return last;
}

// What is mounted in the data folder of a plane, ours or another, comes and goes with its pods.
bool belongs_to_a_plane(const fs::path& target) {
  std::error_code none;
  for (fs::path folder = target; folder.has_relative_path(); folder = folder.parent_path()) {
    if (fs::exists(folder / "sandbox" / "network" / "addresses", none)) return true;
  }
  return false;
}

}  // namespace

std::string plane_id(const fs::path& data_dir) {
  uint64_t hash = fnv1a(data_dir.lexically_normal().string());
  return fmt::format("{:08x}", static_cast<uint32_t>(hash ^ hash >> 32));
}

SandboxRuntime::SandboxRuntime(SandboxOptions options, std::unique_ptr<Network> network)
    : options_(std::move(options)),
      folder_(options_.data_dir / "sandbox"),
      plane_(plane_id(options_.data_dir)),
      cgroups_(options_.support.cgroups),
      images_(options_.data_dir / "images"),
      network_(std::move(network)),
      shims_({options_.data_dir / "pods", options_.shim_argv}) {}

Result<std::unique_ptr<SandboxRuntime>> SandboxRuntime::open(SandboxOptions options) {
  CHECK(options.data_dir.is_absolute());
  NetworkOptions wanted{plane_id(options.data_dir), options.data_dir / "sandbox" / "network", options.outside,
                        ""};
  if (options.support.rootless) {
    // A user's own network has no way out.
    wanted.masquerade = options.outside = false;
    wanted.home = home_network(options.data_dir);
    Result<Done> home = make_namespaces(wanted.home.parent_path(), "trainyard", true);
    if (!home.ok()) return home.error();
  }
  Result<std::unique_ptr<Network>> network = Network::open(std::move(wanted));
  if (!network.ok()) return network.error();
  std::unique_ptr<SandboxRuntime> runtime(new SandboxRuntime(std::move(options), std::move(network).value()));
  Result<Done> begun = runtime->begin();
  if (!begun.ok()) return begun.error();
  return runtime;
}

Result<Done> SandboxRuntime::begin() {
  for (const fs::path& each : {folder_ / "pods", tool().state, folder_ / "tty"}) {
    if (Result<Done> made = make_folders(each); !made.ok()) return made;
  }
  if (options_.support.layers_in_memory) {
    if (Result<Done> memory = mount_memory(folder_ / "memory", 0); !memory.ok()) return memory;
  }
  load_pods();
  // Of pods whose folder is gone: an earlier life died while it took them away.
  for (const std::string& name : cgroups_.children(fmt::format("/trainyard/{}", plane_))) {
    if (!name.starts_with("pod") || pods_.contains(name.substr(3))) continue;
    Result<Done> gone = cgroups_.destroy(cgroup_of(name.substr(3)));
    if (!gone.ok()) return gone;
  }
  for (const std::string& uid : network_->pods()) {
    if (pods_.contains(uid)) continue;
    if (Result<Done> gone = network_->detach(uid); !gone.ok()) return gone;
  }
  return Done{};
}

SandboxRuntime::~SandboxRuntime() {
  if (!pods_.empty()) return;
  // What stays is found again by the next life.
  (void)network_->close().ok();
  if (options_.support.rootless) (void)remove_namespaces(home_network(options_.data_dir).parent_path()).ok();
  (void)cgroups_.destroy(fmt::format("/trainyard/{}", plane_)).ok();
  if (options_.support.layers_in_memory) (void)unmount_below({folder_ / "memory"}).ok();
}

fs::path SandboxRuntime::pod_folder(const std::string& uid) const { return folder_ / "pods" / uid; }

fs::path SandboxRuntime::bundle(const ContainerId& id) const {
  return pod_folder(id.pod_uid) / "containers" / fmt::format("{}.{}", id.container, id.attempt);
}

fs::path SandboxRuntime::layer(const ContainerId& id) const {
  if (!options_.support.layers_in_memory) return bundle(id) / "layer";
  return folder_ / "memory" / id.pod_uid / fmt::format("{}.{}", id.container, id.attempt);
}

// Not in the container's folder: a socket's path has at most 107 characters.
fs::path SandboxRuntime::console(const ContainerId& id) const {
  return folder_ / "tty" / fmt::format("{:016x}", fnv1a(sandbox_name(id)));
}

OciTool SandboxRuntime::tool() const {
  return {options_.support.runtime, folder_ / options_.support.runtime.filename()};
}

// An earlier life may have had another one.
OciTool SandboxRuntime::tool_of(const ContainerId& id) const {
  for (const char* name : {"runc", "crun"}) {
    if (options_.support.runtime.filename() == name || !fs::exists(folder_ / name / sandbox_name(id)))
      continue;
    return {find_tool(name).value_or(name), folder_ / name};
  }
  return tool();
}

std::string SandboxRuntime::cgroup_of(const std::string& uid) const {
  return fmt::format("/trainyard/{}/pod{}", plane_, uid);
}

std::string SandboxRuntime::cgroup_of(const ContainerId& id) const {
  return fmt::format("{}/{}.{}", cgroup_of(id.pod_uid), id.container, id.attempt);
}

std::vector<std::string> SandboxRuntime::cannot_honour(const PodPlan& pod,
                                                       const std::vector<ContainerPlan>& containers) const {
  std::vector<std::string> words;
  for (const std::string& name : foreign_sysctls(pod)) {
    words.push_back(fmt::format("sysctl {} is not set: it is the whole machine's", name));
  }
  if (options_.support.rootless) {
    add_rootless_words(containers, enforced(), options_.support.no_limits, words);
  }
  std::set<std::string> told;
  for (const ContainerPlan& plan : containers) {
    if (plan.image.empty()) continue;
    std::optional<Image> image = images_.find(plan.image);
    if (image && told.insert(plan.image).second) {
      std::string foreign =
          foreign_image_words(plan.image, image->config.architecture, machine_architecture());
      if (!foreign.empty()) words.push_back(std::move(foreign));
    }
    if (!image) {
      if (plan.argv.empty()) {
        words.push_back(fmt::format("container {} has no command, and image {} is not here to give one",
                                    plan.id.container, plan.image));
      }
      if (plan.non_root && !plan.run_as_user) {
        words.push_back(
            fmt::format("container {}: runs as user 0, although runAsNonRoot is set: the image that may "
                        "name another is not here; runAsUser names one",
                        plan.id.container));
      }
      if (!told.insert(plan.image).second) continue;
      words.push_back(
          fmt::format("image {} is not on this machine: its containers run on the host's own root "
                      "(trainyard pull {} brings it)",
                      plan.image, plan.image));
    } else if (!plan.gpus.empty() && !options_.gpus.simulated) {
      words.push_back(fmt::format(
          "container {}: the GPU driver's libraries are not added to image {}: it must bring them",
          plan.id.container, plan.image));
    }
  }
  return words;
}

// Single files are not overlaid: runc mounts a copy of itself for a moment wherever it is at work.
std::vector<HostLayer> SandboxRuntime::host_layers(const ContainerId& id) const {
  std::vector<HostLayer> layers;
  Result<std::string> mounts = read_whole("/proc/self/mountinfo");
  if (!mounts.ok()) return layers;
  std::error_code none;
  for (const std::string& target : host_layer_targets(*mounts, {options_.data_dir.string()})) {
    if (!fs::is_directory(target, none) || belongs_to_a_plane(target)) continue;
    fs::path folder = layer(id) / fmt::format("host{}", layers.size());
    layers.push_back({target, folder / "upper", folder / "work"});
  }
  return layers;
}

fs::path SandboxRuntime::pid_namespace(const std::string& pod_uid, const std::string& container) {
  for (const ContainerStatus& status : shims_.list(pod_uid)) {
    if (status.id.container != container || status.phase != ContainerPhase::kRunning) continue;
    if (std::optional<ShimState> state = shims_.state(status.id)) {
      return fmt::format("/proc/{}/ns/pid", state->pid);
    }
  }
  return {};
}

SandboxFacts SandboxRuntime::facts(const Pod& pod, const ContainerPlan& plan,
                                   const std::optional<Image>& image) {
  fs::path folder = pod_folder(pod.plan.uid);
  NamespaceFiles files = namespace_files(folder / "ns");
  SandboxFacts facts;
  facts.root = bundle(plan.id) / "rootfs";
  facts.host_root = !image;
  if (!image) {
    if (!options_.support.rootless) facts.host_layers = host_layers(plan.id);
    facts.hidden = {options_.data_dir.string()};
  }
  if (!pod.plan.host_network) facts.network_ns = files.network;
  if (!plan.target.empty()) facts.pid_ns = pid_namespace(pod.plan.uid, plan.target);
  facts.ipc_ns = files.ipc;
  facts.uts_ns = files.uts;
  facts.hosts = folder / "hosts";
  facts.hostname = folder / "hostname";
  facts.resolv_conf = folder / "resolv.conf";
  facts.shm = folder / "shm";
  facts.cgroup_path = cgroups_.path_below_mount(cgroup_of(plan.id));
  facts.cgroup_v2 = options_.support.cgroups.v2;
  facts.cgroups = options_.support.has_cgroups();
  facts.limits = limits_here();
  facts.user_namespace = options_.support.rootless;
  facts.users = read_user_files(image ? image->root : fs::path("/"));
  facts.devices = gpu_devices(options_.gpus, plan.gpus);
  facts.cap_last = cap_last();
  return facts;
}

KernelLimits SandboxRuntime::limits_here() const {
  return {options_.support.cgroups.limits_cpu, cgroups_.can_limit_swap()};
}

// A memory volume with a place of its own is shared by the containers of the pod.
Result<Done> SandboxRuntime::mount_memory_volumes(const ContainerPlan& plan) {
  for (const Mount& one : plan.mounts) {
    if (!one.memory || one.source.empty()) continue;
    Result<Done> mounted = mount_memory(one.source, one.memory_bytes.value_or(0));
    if (!mounted.ok()) return mounted;
  }
  return Done{};
}

// The folder that the runtime takes for the container's root.
Result<Done> SandboxRuntime::make_root(const ContainerId& id, const std::optional<Image>& image,
                                       const std::vector<Mount>& mounts, SandboxFacts& known) {
  if (image || !options_.support.rootless) {
    Result<Done> root =
        mount_root(image ? image->root : fs::path("/"), bundle(id), layer(id), options_.support.rootless);
    if (!root.ok()) return root;
  } else {
    Result<std::vector<HostLayer>> layers = make_host_root(bundle(id), layer(id), options_.data_dir);
    if (!layers.ok()) return layers.error();
    known.host_layers = *layers;
  }
  for (const HostLayer& one : known.host_layers) {
    if (one.upper.empty()) continue;
    Result<Done> made = make_folders(one.upper);
    if (made.ok()) made = make_folders(one.work);
    if (!made.ok()) return made;
    ::chmod(one.upper.c_str(), one.target == "/tmp" ? 01777 : 0755);
    for (const Mount& mount : mounts) {
      if (!mount.target.starts_with(one.target + "/")) continue;
      std::error_code none;
      made = make_way(one, mount.target, fs::is_regular_file(mount.source, none));
      if (!made.ok()) return made;
    }
  }
  return Done{};
}

// The OCI runtime finds its sources by their names, a while after we looked.
Result<Done> SandboxRuntime::hold_mounts(ContainerPlan& plan) const {
  for (size_t i = 0; i < plan.mounts.size(); ++i) {
    Mount& one = plan.mounts[i];
    if (!one.exact) continue;
    fs::path held = bundle(plan.id) / "held" / std::to_string(i);
    if (Result<Done> done = hold_exactly(one.source, held); !done.ok()) return done;
    one.source = held;
  }
  return Done{};
}

Result<Done> SandboxRuntime::make_bundle(const Pod& pod, const ContainerPlan& plan) {
  std::optional<Image> image = images_.find(plan.image);
  PodPlan kept = pod.plan;
  for (const std::string& name : foreign_sysctls(kept)) kept.sysctls.erase(name);
  ImageConfig config = image ? image->config : ImageConfig{};
  ContainerPlan wanted = plan;
  if (options_.support.rootless) {
    // There is one user: the one who started the plane.
    config.user.clear();
    wanted.run_as_user.reset();
    wanted.run_as_group.reset();
    wanted.more_groups.clear();
  }
  if (Result<std::vector<std::string>> argv = command_line(wanted, config); !argv.ok()) return argv.error();
  if (Result<Done> mounted = mount_memory_volumes(plan); !mounted.ok()) return mounted;
  if (Result<Done> found = find_memory_folders(wanted.mounts); !found.ok()) return found;
  if (Result<Done> held = hold_mounts(wanted); !held.ok()) return held;
  SandboxFacts known = facts(pod, plan, image);
  if (Result<Done> made = make_root(plan.id, image, wanted.mounts, known); !made.ok()) return made;
  Result<json::object> spec = oci_spec(kept, wanted, config, known);
  if (!spec.ok()) return spec.error();
  return write_soon(bundle(plan.id) / "config.json", json::serialize(*spec));
}

ShimPlan SandboxRuntime::shim_plan(const ContainerPlan& plan) const {
  fs::path folder = bundle(plan.id);
  ShimPlan shim;
  shim.argv = {tool().program.string(), "--root",     tool().state.string(),    "run", "--detach", "--bundle",
               folder.string(),         "--pid-file", (folder / "pid").string()};
  if (plan.tty) {
    shim.console_socket = console(plan.id).string();
    shim.argv.insert(shim.argv.end(), {"--console-socket", shim.console_socket});
  }
  shim.argv.push_back(sandbox_name(plan.id));
  shim.env = tool_environment();
  shim.container_pid_file = (folder / "pid").string();
  shim.log_file = plan.log_file.string();
  shim.tty = plan.tty;
  shim.stdin_open = plan.stdin_open;
  return shim;
}

Result<Done> SandboxRuntime::start(const ContainerPlan& plan) {
  if (shims_.find(plan.id)) return Done{};
  std::optional<Pod> pod = find_pod(plan.id.pod_uid);
  if (!pod || pod->ip.empty()) {
    return Error{ErrorKind::kConflict, fmt::format("pod {} has not been prepared", plan.id.pod_uid)};
  }
  if (plan.tty && console(plan.id).string().size() > kSocketPathMax) {
    return Error{ErrorKind::kInvalid, fmt::format("the data folder's path is too long for terminals: {}",
                                                  options_.data_dir.string())};
  }
  // Of a try that got nowhere; nothing of it runs.
  if (fs::exists(bundle(plan.id))) {
    if (Result<Done> cleared = clear(plan.id); !cleared.ok()) return cleared;
  }
  if (Result<Done> made = make_bundle(*pod, plan); !made.ok()) return made;
  return shims_.start(plan.id, shim_plan(plan));
}

std::vector<ContainerStatus> SandboxRuntime::list() { return judged(shims_.list()); }

std::vector<ContainerStatus> SandboxRuntime::list(const std::string& pod_uid) {
  return judged(shims_.list(pod_uid));
}

// How those that ended did, with what only a sandbox knows.
std::vector<ContainerStatus> SandboxRuntime::judged(std::vector<ContainerStatus> all) {
  for (ContainerStatus& status : all) {
    if (status.phase != ContainerPhase::kExited) continue;
    if (status.exit_code == 128 && !status.message.empty()) {
      StartVerdict verdict = read_start_failure(status.message);
      status.exit_code = verdict.exit_code;
      status.message = verdict.message;
    }
    std::lock_guard lock(mutex_);
    auto [known, fresh] = oom_.try_emplace(status.id, false);
    if (fresh) known->second = cgroups_.oom_kills(cgroup_of(status.id)) > 0;
    status.oom_killed = known->second && status.exit_code != 0;
  }
  return all;
}

std::string SandboxRuntime::image_id(const std::string& image) const {
  std::optional<Image> found = images_.find(image);
  if (!found) return "";
  Result<ImageName> name = parse_image_name(image);
  return name.ok() ? name_by_digest(*name, found->digest) : found->digest;
}

int SandboxRuntime::changes() const { return shims_.changes(); }

void SandboxRuntime::drain_changes() { shims_.drain_changes(); }

// A container may be on its way: it is told once it runs.
// As a kubelet has it done: what the first process started is its own to stop. Whoever saves a checkpoint on
// SIGTERM still has its data loaders then.
Result<Done> SandboxRuntime::signal(const ContainerId& id, int signal) {
  for (int waited = 0; waited < kStartPatienceMs && !shims_.state(id); waited += 5) {
    std::optional<ContainerStatus> status = shims_.find(id);
    if (!status || status->phase == ContainerPhase::kExited) break;
    ::poll(nullptr, 0, 5);
  }
  return shims_.signal(id, signal, Reach::kProcess);
}

// The OCI runtime knows how the limits of this machine's control groups are written.
Result<Done> SandboxRuntime::resize(const ContainerId& id, const Limits& limits) {
  if (!options_.support.has_cgroups()) return Done{};
  fs::path wanted = bundle(id) / "resize.json";
  Result<Done> written = write_soon(wanted, json::serialize(oci_limits(limits, limits_here())));
  if (!written.ok()) return written;
  ToolOptions options{.deadline = std::chrono::milliseconds(kResizePatienceMs)};
  OciTool tool = tool_of(id);
  ToolEnd end = run_tool({tool.program.string(), "--root", tool.state.string(), "update", "--resources",
                          wanted.string(), sandbox_name(id)},
                         options);
  if (end.ok()) return Done{};
  return Error{ErrorKind::kUnavailable, fmt::format("the limits of container {} cannot be changed: {}",
                                                    id.container, last_words(end))};
}

// Takes away what start() made, besides the shim's own files.
Result<Done> SandboxRuntime::clear(const ContainerId& id) {
  if (Result<Done> gone = cgroups_.destroy(cgroup_of(id)); !gone.ok()) return gone;
  if (Result<Done> gone = unmount_below({bundle(id)}); !gone.ok()) return gone;
  if (Result<Done> gone = drop_held(bundle(id) / "held"); !gone.ok()) return gone;
  std::error_code failure;
  for (const fs::path& folder : {layer(id), bundle(id), tool_of(id).state / sandbox_name(id), console(id)}) {
    fs::remove_all(folder, failure);
    if (failure) return error_of(failure.value(), "remove", folder.string());
  }
  std::lock_guard lock(mutex_);
  oom_.erase(id);
  return Done{};
}

Result<Done> SandboxRuntime::remove(const ContainerId& id) {
  if (Result<Done> removed = shims_.remove(id); !removed.ok()) return removed;
  return clear(id);
}

Result<std::unique_ptr<ExecProcess>> SandboxRuntime::exec(const ContainerId& id, const ExecPlan& plan) {
  std::optional<ContainerStatus> status = shims_.find(id);
  if (!status || status->phase != ContainerPhase::kRunning) {
    return Error{ErrorKind::kConflict, fmt::format("container {} does not run", id.container)};
  }
  if (plan.argv.empty()) return shims_.attach(id, plan);
  OciTool tool = tool_of(id);
  return sandbox_exec(tool.program, tool.state, bundle(id), id, plan);
}

std::optional<Usage> SandboxRuntime::usage(const ContainerId& id) { return cgroups_.usage(cgroup_of(id)); }

}  // namespace trainyard::node
