#include "node/sandbox_support.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <thread>

#include "base/fd.h"
#include "node/files.h"
#include "node/network_link.h"
#include "node/sandbox_root.h"
#include "node/sandbox_tool.h"
#include "node/sandbox_user.h"
#include "node/user_scope.h"

namespace trainyard::node {
namespace {

namespace fs = std::filesystem;

// Both in the namespaces of the trial.
Result<Done> try_network() {
  Result<LinkSocket> links = LinkSocket::open();
  if (!links.ok()) return links.error();
  Fd here(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  Result<Done> bridge = links.value().add_bridge("trial0", 1);
  if (!bridge.ok()) return bridge;
  Result<int> index = links.value().index_of("trial0");
  if (!index.ok()) return index.error();
  return links.value().add_pair("trial1", *index, "trial2", here.get());
}

Result<Done> try_layer(const fs::path& folder) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return error_of(errno, "make mounts private", "/");
  }
  bool rootless = in_user_namespace();
  return mount_root(rootless ? "/usr" : "/", folder, folder / "layer", rootless);
}

Result<Done> try_memory_layer(const fs::path& folder) {
  Result<Done> memory = mount_memory(folder / "memory", 0);
  if (!memory.ok()) return memory;
  bool rootless = in_user_namespace();
  return mount_root(rootless ? "/usr" : "/", folder, folder / "memory" / "layer", rootless);
}

// What the kernel allows; in a thread, because a thread may leave its namespaces for good.
Result<Done> try_kernel(const fs::path& folder, bool& in_memory) {
  Result<Done> result = Done{};
  std::thread trial([&] {
    if (::unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0) {
      result = Error{ErrorKind::kForbidden, fmt::format("namespaces cannot be made: {}", ::strerror(errno))};
      return;
    }
    result = try_network();
    if (!result.ok()) return;
    result = try_layer(folder);
    if (result.ok()) return;
    result = try_memory_layer(folder);
    in_memory = result.ok();
  });
  trial.join();
  return result;
}

Error no_runtime(std::string words) {
  return {ErrorKind::kUnavailable, std::move(words) + " (Debian: apt-get install runc)"};
}

Result<fs::path> pick_runtime(const CgroupLayout& layout, const std::string& wanted) {
  Result<std::string> status = read_whole("/proc/self/status");
  if (!status.ok()) return status.error();
  std::vector<std::string> order = runtime_order(layout, may_raise_limits(*status));
  const char* unfit = layout.hybrid ? "crun does not work with hybrid control groups"
                                    : "crun needs CAP_SYS_RESOURCE with control groups of version 2";
  bool is_fit = wanted.empty() || std::find(order.begin(), order.end(), wanted) != order.end();
  if (!is_fit) return Error{ErrorKind::kUnavailable, unfit};
  if (!wanted.empty()) order = {wanted};
  for (const std::string& name : order) {
    if (std::optional<fs::path> found = find_tool(name)) return *found;
  }
  if (!wanted.empty()) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("{} is not installed (Debian: apt-get install {})", wanted, wanted)};
  }
  if (order.size() == 1) return no_runtime(fmt::format("runc is not installed ({})", unfit));
  return no_runtime("neither crun nor runc is installed");
}

// What the plane of an ordinary user was handed over; nothing, at times with the reason.
CgroupLayout cgroups_of_user(const CgroupLayout& layout, std::string& why) {
  Result<std::string> self = read_whole("/proc/self/cgroup");
  std::optional<std::string> home =
      self.ok() && layout.v2 ? home_of_plane(unified_group(*self)) : std::nullopt;
  if (!home) return {};
  CgroupLayout own = layout_below(layout, *home);
  Result<Done> writable = Cgroups(own).writable();
  if (writable.ok()) return own;
  why = writable.error().message;
  return {};
}

}  // namespace

std::vector<std::string> runtime_order(const CgroupLayout& layout, bool raises_limits) {
  if (layout.hybrid || (layout.v2 && !raises_limits)) return {"runc"};
  return {"crun", "runc"};
}

bool may_raise_limits(std::string_view status) {
  constexpr std::string_view kEffective = "\nCapEff:\t";
  constexpr int kSysResource = 24;
  size_t at = status.find(kEffective);
  if (at == std::string_view::npos) return false;
  status.remove_prefix(at + kEffective.size());
  uint64_t held = 0;
  std::from_chars(status.data(), status.data() + status.size(), held, 16);
  return (held >> kSysResource & 1) != 0;
}

bool has_root_mount(std::string_view mountinfo) {
  // Fields: id, parent, device, root, mount point, ...
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string id, parent, device, root, point;
    if (fields >> id >> parent >> device >> root >> point && point == "/") return true;
  }
  return false;
}

Result<SandboxSupport> sandbox_support(const fs::path& data_dir, const std::string& wanted) {
  if (data_dir.string().find(',') != std::string::npos) {
    return Error{
        ErrorKind::kUnavailable,
        fmt::format("{} has a comma in its path, which OCI runtimes do not take", data_dir.string())};
  }
  if (::geteuid() != 0) {
    return Error{ErrorKind::kForbidden, "sandboxes need root, or a user namespace"};
  }
  SandboxSupport support;
  Result<std::string> mounts = read_whole("/proc/self/mountinfo");
  if (!mounts.ok()) return mounts.error();
  if (!has_root_mount(*mounts)) {
    return Error{ErrorKind::kUnavailable,
                 "the root folder is not a mount of its own (a plain chroot), which OCI runtimes need"};
  }
  std::optional<CgroupLayout> layout = cgroup_layout(*mounts);
  if (!layout) return Error{ErrorKind::kUnavailable, "no control groups for CPU and memory are mounted"};
  support.cgroups = *layout;
  Result<fs::path> runtime = pick_runtime(*layout, wanted);
  if (!runtime.ok()) return runtime.error();
  support.runtime = *runtime;
  support.rootless = in_user_namespace();
  if (support.rootless) {
    support.cgroups = cgroups_of_user(*layout, support.no_limits);
  } else if (Result<Done> writable = Cgroups(*layout).writable(); !writable.ok()) {
    return writable.error();
  }
  fs::path folder = data_dir / "sandbox" / fmt::format("trial-{}", ::getpid());
  if (Result<Done> made = make_folders(folder); !made.ok()) return made.error();
  Result<Done> kernel = try_kernel(folder, support.layers_in_memory);
  std::error_code failure;
  fs::remove_all(folder, failure);
  if (!kernel.ok()) return kernel.error();
  return support;
}

}  // namespace trainyard::node
