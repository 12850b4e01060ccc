#include "node/sandbox_user.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/fd.h"
#include "node/files.h"
#include "node/sandbox_namespaces.h"
#include "node/shim_plan.h"

namespace trainyard::node {
namespace {

namespace fs = std::filesystem;

std::string setting(const char* file) {
  Result<std::string> text = read_whole(file);
  return text.ok() ? *text : "";
}

// What the machine's settings say about a refusal.
std::string why_not(int number) {
  if (setting("/proc/sys/user/max_user_namespaces").starts_with("0\n")) {
    return "user namespaces are switched off (user.max_user_namespaces is 0)";
  }
  if (setting("/proc/sys/kernel/unprivileged_userns_clone").starts_with("0")) {
    return "users may not make user namespaces (kernel.unprivileged_userns_clone is 0)";
  }
  if (setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").starts_with("1")) {
    return "AppArmor keeps users from making user namespaces (kernel.apparmor_restrict_unprivileged_userns "
           "is 1)";
  }
  return fmt::format("users may not make user namespaces: {}", ::strerror(number));
}

bool enter(int64_t pid) {
  Fd user(::open(fmt::format("/proc/{}/ns/user", pid).c_str(), O_RDONLY | O_CLOEXEC));
  Fd mount(::open(fmt::format("/proc/{}/ns/mnt", pid).c_str(), O_RDONLY | O_CLOEXEC));
  return user.valid() && mount.valid() && ::setns(user.get(), CLONE_NEWUSER) == 0 &&
         ::setns(mount.get(), CLONE_NEWNS) == 0;
}

Result<Done> write_map(const char* file, const std::string& text) {
  Fd fd(::open(file, O_WRONLY | O_CLOEXEC));
  if (!fd.valid() || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return error_of(errno, "write", file);
  }
  return Done{};
}

Result<Done> make(uid_t uid, gid_t gid) {
  if (::unshare(CLONE_NEWUSER) != 0) return Error{ErrorKind::kForbidden, why_not(errno)};
  Result<Done> mapped = write_map("/proc/self/setgroups", "deny");
  if (mapped.ok()) mapped = write_map("/proc/self/uid_map", fmt::format("0 {} 1", uid));
  if (mapped.ok()) mapped = write_map("/proc/self/gid_map", fmt::format("0 {} 1", gid));
  if (!mapped.ok()) return mapped;
  if (::unshare(CLONE_NEWNS) != 0) return Error{ErrorKind::kForbidden, why_not(errno)};
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    return error_of(errno, "make mounts private", "/");
  }
  return Done{};
}

}  // namespace

bool maps_all_users(std::string_view uid_map) {
  std::istringstream words{std::string(uid_map)};
  uint64_t inside = 0;
  uint64_t outside = 0;
  uint64_t count = 0;
  words >> inside >> outside >> count;
  return inside == 0 && outside == 0 && count >= 4'294'967'295;
}

bool in_user_namespace() { return !maps_all_users(setting("/proc/self/uid_map")); }

// A shim is known by its plan's path, from its first moment on.
std::vector<int64_t> shims_of_earlier_life(const fs::path& data_dir) {
  std::string plans = (data_dir / "pods").string() + "/";
  std::vector<int64_t> shims;
  std::error_code failure;
  for (fs::directory_iterator it("/proc", failure), end; !failure && it != end; it.increment(failure)) {
    int64_t pid = std::strtoll(it->path().filename().c_str(), nullptr, 10);
    if (pid <= 0) continue;
    Result<std::string> command = read_whole(it->path() / "cmdline");
    if (!command.ok() || command->find(plans) == std::string::npos ||
        command->find(kShimPlanFile) == std::string::npos) {
      continue;
    }
    shims.push_back(pid);
  }
  return shims;
}

fs::path home_network(const fs::path& data_dir) {
  return namespace_files(data_dir / "sandbox" / "home").network;
}

Result<Done> enter_user_namespace(const fs::path& data_dir) {
  uid_t uid = ::geteuid();
  if (uid == 0) return Done{};
  // The namespaces of an earlier life live as long as one of its shims.
  std::vector<int64_t> shims = shims_of_earlier_life(data_dir);
  if (std::any_of(shims.begin(), shims.end(), enter)) return Done{};
  return make(uid, ::getegid());
}

}  // namespace trainyard::node
