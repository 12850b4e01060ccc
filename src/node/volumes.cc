#include "node/volumes.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "base/match.h"
#include "node/files.h"

namespace trainyard::node {

namespace {

Error set_up_failed(const std::string& volume, const std::string& words) {
  return Error{ErrorKind::kUnavailable,
               fmt::format("MountVolume.SetUp failed for volume \"{}\" : {}", volume, words)};
}

// What a hostPath's type demands; "" when all is well.
std::string check_host_path(const HostVolume& host) {
  struct stat about {};
  bool there = ::stat(host.path.c_str(), &about) == 0;
  if (host.type == "DirectoryOrCreate" && !there) {
    Result<Done> made = make_folders(host.path);
    return made.ok() ? "" : made.error().message;
  }
  if (host.type == "FileOrCreate" && !there) {
    Fd fd(::open(host.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    return fd.valid() ? "" : error_of(errno, "open", host.path).message;
  }
  std::string failed = fmt::format("hostPath type check failed: {} is not a ", host.path);
  if (!there && host.type.empty()) return fmt::format("hostPath {} does not exist", host.path);
  bool is_folder = there && S_ISDIR(about.st_mode);
  if ((host.type == "Directory" || host.type == "DirectoryOrCreate") && !is_folder)
    return failed + "directory";
  if ((host.type == "File" || host.type == "FileOrCreate") && !(there && S_ISREG(about.st_mode))) {
    return failed + "file";
  }
  if (host.type == "Socket" && !(there && S_ISSOCK(about.st_mode))) return failed + "socket file";
  if (host.type == "CharDevice" && !(there && S_ISCHR(about.st_mode))) return failed + "character device";
  if (host.type == "BlockDevice" && !(there && S_ISBLK(about.st_mode))) return failed + "block device";
  return "";
}

Result<Done> write_files(const std::filesystem::path& folder, const FileVolume& volume) {
  Result<Done> made = make_folders(folder);
  if (!made.ok()) return made;
  for (const VolumeFile& file : volume.files) {
    std::filesystem::path path = folder / file.path;
    made = make_folders(path.parent_path());
    if (made.ok()) made = write_soon(path, file.content, file.mode);
    if (!made.ok()) return made;
  }
  return Done{};
}

// For kernels without openat2: part by part, and no link is followed at all.
int walk_beneath(int root, const std::string& path) {
  Fd at(::openat(root, ".", O_PATH | O_CLOEXEC));
  for (size_t from = 0; from <= path.size() && at.valid();) {
    size_t end = std::min(path.find('/', from), path.size());
    std::string part = path.substr(from, end - from);
    from = end + 1;
    struct stat about {};
    bool leaves = part == "..";
    if (!leaves && ::fstatat(at.get(), part.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    if (leaves || S_ISLNK(about.st_mode)) {
      errno = ELOOP;
      return -1;
    }
    at = Fd(::openat(at.get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  }
  return at.release();
}

int open_beneath(int root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  int fd = static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) return walk_beneath(root, path);
  return fd;
}

// Makes the folders of a path one by one, each found beneath the root again.
bool make_beneath(int root, const std::string& path) {
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    std::string parent = at == 0 ? "." : path.substr(0, at - 1);
    std::string name = path.substr(at, end - at);
    Fd folder(open_beneath(root, parent));
    if (!folder.valid()) return false;
    if (::mkdirat(folder.get(), name.c_str(), 0777) != 0 && errno != EEXIST) return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

Result<std::filesystem::path> resolve_beneath(const std::filesystem::path& root,
                                              const std::string& sub_path) {
  Fd folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return error_of(errno, "open", root.native());
  Fd found(open_beneath(folder.get(), sub_path));
  if (!found.valid() && errno == ENOENT && make_beneath(folder.get(), sub_path)) {
    found = Fd(open_beneath(folder.get(), sub_path));
  }
  if (!found.valid()) {
    if (errno == EXDEV || errno == ELOOP) {
      return Error{ErrorKind::kForbidden, fmt::format("subPath \"{}\" leaves its volume", sub_path)};
    }
    return error_of(errno, "open subPath", sub_path);
  }
  std::error_code error;
  std::filesystem::path real =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", found.get()), error);
  if (error) return error_of(error.value(), "find subPath", sub_path);
  return real;
}

std::filesystem::path Volumes::claim_folder(const std::string& ns, const std::string& claim) const {
  return data_dir_ / "volumes" / ns / claim;
}

std::filesystem::path Volumes::folder_of(const std::string& ns, const std::string& pod_uid,
                                         const VolumePlan& volume) const {
  std::filesystem::path own = data_dir_ / "pods" / pod_uid / "volumes" / volume.name;
  return std::visit(Match{
                        [&](const EmptyVolume&) { return own; },
                        [&](const HostVolume& host) { return std::filesystem::path(host.path); },
                        [&](const ClaimVolume& claim) { return claim_folder(ns, claim.claim); },
                        [&](const FileVolume&) { return own; },
                    },
                    volume.kind);
}

Result<Done> Volumes::set_up(const std::string& ns, const std::string& pod_uid,
                             const std::vector<VolumePlan>& volumes) const {
  for (const VolumePlan& volume : volumes) {
    std::filesystem::path folder = folder_of(ns, pod_uid, volume);
    auto make_open = [&]() -> Result<Done> {
      Result<Done> made = make_folders(folder);
      // Whoever the container runs as may write there.
      if (made.ok()) ::chmod(folder.c_str(), 0777);
      return made;
    };
    Result<Done> done =
        std::visit(Match{
                       // One in memory is mounted there by the runtime.
                       [&](const EmptyVolume&) -> Result<Done> { return make_open(); },
                       [&](const HostVolume& host) -> Result<Done> {
                         std::string wrong = check_host_path(host);
                         if (wrong.empty()) return Done{};
                         return Error{ErrorKind::kUnavailable, wrong};
                       },
                       [&](const ClaimVolume&) -> Result<Done> { return make_open(); },
                       [&](const FileVolume& files) -> Result<Done> { return write_files(folder, files); },
                   },
                   volume.kind);
    if (!done.ok()) return set_up_failed(volume.name, done.error().message);
  }
  return Done{};
}

Result<std::vector<Mount>> Volumes::mounts(const std::string& ns, const std::string& pod_uid,
                                           const std::vector<VolumePlan>& volumes,
                                           const std::vector<MountWish>& wishes) const {
  std::vector<Mount> mounts;
  for (const MountWish& wish : wishes) {
    const VolumePlan* volume = nullptr;
    for (const VolumePlan& each : volumes) {
      if (each.name == wish.volume) volume = &each;
    }
    if (volume == nullptr) {
      return Error{ErrorKind::kInvalid, fmt::format("volume \"{}\" is not in the pod", wish.volume)};
    }
    Mount mount;
    mount.target = wish.target;
    mount.read_only = wish.read_only;
    const EmptyVolume* empty = std::get_if<EmptyVolume>(&volume->kind);
    if (empty != nullptr && empty->memory) {
      mount.memory = true;
      mount.memory_bytes = empty->bytes_max;
    }
    const ClaimVolume* claim = std::get_if<ClaimVolume>(&volume->kind);
    mount.read_only = mount.read_only || (claim != nullptr && claim->read_only) ||
                      std::holds_alternative<FileVolume>(volume->kind);
    mount.source = folder_of(ns, pod_uid, *volume);
    if (!wish.sub_path.empty()) {
      Result<std::filesystem::path> real = resolve_beneath(mount.source, wish.sub_path);
      if (!real.ok()) return real.error();
      mount.source = *real;
    }
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

void Volumes::tear_down(const std::string& pod_uid) const {
  if (pod_uid.empty() || pod_uid.find('/') != std::string::npos || pod_uid == "." || pod_uid == "..") return;
  std::error_code error;
  std::filesystem::remove_all(data_dir_ / "pods" / pod_uid, error);
}

}  // namespace trainyard::node
