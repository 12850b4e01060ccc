#include "node/user_scope.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>

#include "base/fd.h"
#include "node/cgroup.h"
#include "node/files.h"
#include "node/sandbox_runtime.h"
#include "node/sandbox_user.h"
#include "node/systemd_call.h"

namespace trainyard::node {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPlaneGroup = "/trainyard-plane";
constexpr int kMovePatienceMs = 5000;

std::string group_of(const std::string& pid) {
  Result<std::string> text = read_whole(fmt::format("/proc/{}/cgroup", pid));
  return text.ok() ? unified_group(*text) : "";
}

// systemd marks what it has handed over.
bool is_handed_over(const fs::path& folder) {
  char value = 0;
  return ::getxattr(folder.c_str(), "user.delegate", &value, 1) == 1 && value == '1';
}

bool lingers(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::string space(16 << 10, '\0');
  if (::getpwuid_r(uid, &entry, space.data(), space.size(), &found) != 0 || found == nullptr) return false;
  return fs::exists(fs::path("/var/lib/systemd/linger") / found->pw_name);
}

fs::path socket_of(uid_t uid) {
  const char* runtime = ::getenv("XDG_RUNTIME_DIR");
  fs::path folder =
      runtime != nullptr && *runtime != '\0' ? fs::path(runtime) : fs::path(fmt::format("/run/user/{}", uid));
  return folder / "systemd" / "private";
}

// systemd has said yes; this process is moved a moment later.
Result<std::string> wait_for_move(const std::string& unit) {
  for (int waited = 0; waited < kMovePatienceMs; waited += 2) {
    std::string group = group_of("self");
    if (group.ends_with("/" + unit)) return group;
    ::poll(nullptr, 0, 2);
  }
  return Error{ErrorKind::kUnavailable, fmt::format("systemd did not make {}", unit)};
}

Result<std::string> make_scope(const std::string& plane, const std::string& group, const fs::path& data_dir) {
  uid_t uid = ::getuid();
  if (!below_user_manager(group, uid) && !lingers(uid)) {
    return Error{
        ErrorKind::kForbidden,
        "what this user's systemd holds ends with the last session; `loginctl enable-linger` lets it stay"};
  }
  std::string unit = fmt::format("trainyard-{}-{}.scope", plane, ::getpid());
  ScopeRequest request{unit, fmt::format("Trainyard in {}", data_dir.string()),
                       static_cast<uint32_t>(::getpid())};
  if (Result<Done> asked = ask_for_scope(socket_of(uid), request); !asked.ok()) return asked.error();
  return wait_for_move(unit);
}

Result<Done> join(const fs::path& folder) {
  fs::path file = folder / "cgroup.procs";
  Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid() || ::write(fd.get(), "0", 1) != 1) return error_of(errno, "join", folder.string());
  return Done{};
}

}  // namespace

std::string unified_group(std::string_view cgroup_file) {
  size_t at = cgroup_file.starts_with("0::") ? 0 : cgroup_file.find("\n0::");
  if (at == std::string_view::npos) return "";
  std::string_view group = cgroup_file.substr(at + (at == 0 ? 3 : 4));
  return std::string(group.substr(0, group.find('\n')));
}

std::optional<std::string> home_of_plane(const std::string& group) {
  if (!group.ends_with(kPlaneGroup) || group.size() == kPlaneGroup.size()) return std::nullopt;
  return group.substr(0, group.size() - kPlaneGroup.size());
}

bool below_user_manager(std::string_view group, uid_t uid) {
  return group.find(fmt::format("/user@{}.service/", uid)) != std::string_view::npos;
}

Result<Done> enter_user_scope(const fs::path& data_dir) {
  if (::geteuid() == 0) return Done{};
  Result<std::string> mounts = read_whole("/proc/self/mountinfo");
  std::optional<CgroupLayout> layout = mounts.ok() ? cgroup_layout(*mounts) : std::nullopt;
  if (!layout || !layout->v2) {
    return Error{ErrorKind::kUnavailable, "control groups of version 1 are root's alone"};
  }
  auto folder = [&](const std::string& group) { return layout->memory / fs::path(group).relative_path(); };
  std::string group = group_of("self");
  if (!is_handed_over(folder(group))) {
    Result<std::string> scope = make_scope(plane_id(data_dir), group, data_dir);
    if (!scope.ok()) return scope.error();
    group = *scope;
  }
  for (int64_t shim : shims_of_earlier_life(data_dir)) {
    std::string theirs = group_of(std::to_string(shim));
    if (home_of_plane(theirs)) return join(folder(theirs));
  }
  fs::path own = folder(group + std::string(kPlaneGroup));
  if (::mkdir(own.c_str(), 0755) != 0 && errno != EEXIST) return error_of(errno, "make", own.string());
  return join(own);
}

}  // namespace trainyard::node
