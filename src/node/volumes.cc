#include "node/volumes.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "base/fd.h"
#include "base/match.h"
#include "node/files.h"

namespace trainyard::node {

namespace {

Error set_up_failed(const std::string& volume, const std::string& words) {
  return Error{ErrorKind::kUnavailable,
               fmt::format("MountVolume.SetUp failed for volume \"{}\" : {}", volume, words)};
}

// Makes what the hostPath's type allows to be made; "" when all is well.
std::string check_host_path(const HostVolume& host) {
  bool there = ::access(host.path.c_str(), F_OK) == 0;
  if (host.type == "DirectoryOrCreate" && !there) {
    Result<Done> made = make_folders(host.path);
    return made.ok() ? "" : made.error().message;
  }
  if (host.type == "FileOrCreate" && !there) {
    Fd fd(::open(host.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    return fd.valid() ? "" : error_of(errno, "open", host.path).message;
  }
  return unfit_host_path(host);
}

constexpr std::string_view kDataLink = "..data";

// A link put where another, or an older file, may be.
Result<Done> put_link(const std::filesystem::path& to, const std::filesystem::path& at) {
  std::error_code error;
  if (std::filesystem::read_symlink(at, error) == to && !error) return Done{};
  std::filesystem::path fresh = at;
  fresh += "~";
  std::filesystem::remove(fresh, error);
  std::filesystem::create_symlink(to, fresh, error);
  if (!error && std::filesystem::is_directory(std::filesystem::symlink_status(at)))
    std::filesystem::remove_all(at, error);
  if (!error) std::filesystem::rename(fresh, at, error);
  if (error) return error_of(error.value(), "link", at.native());
  return Done{};
}

// The names at the top of the volume.
std::set<std::string> top_names(const FileVolume& volume) {
  std::set<std::string> names;
  for (const VolumeFile& file : volume.files) names.insert(file.path.substr(0, file.path.find('/')));
  return names;
}

Result<Done> write_files(const std::filesystem::path& folder, const FileVolume& volume) {
  Result<Done> made = make_folders(folder);
  if (!made.ok()) return made;
  std::error_code error;
  std::filesystem::path before = std::filesystem::read_symlink(folder / kDataLink, error);
  std::filesystem::path fresh = before == "..0" ? "..1" : "..0";
  std::filesystem::remove_all(folder / fresh, error);
  made = make_folders(folder / fresh);
  for (const VolumeFile& file : volume.files) {
    std::filesystem::path path = folder / fresh / file.path;
    if (made.ok()) made = make_folders(path.parent_path());
    if (made.ok()) made = write_soon(path, file.content, file.mode);
  }
  if (made.ok()) made = put_link(fresh, folder / kDataLink);
  std::set<std::string> names = top_names(volume);
  for (const std::string& name : names) {
    if (made.ok()) made = put_link(std::filesystem::path(kDataLink) / name, folder / name);
  }
  if (!made.ok()) return made;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename();
    bool ours = name == kDataLink || name == fresh || names.contains(name);
    std::error_code ignored;
    if (!ours) std::filesystem::remove_all(it->path(), ignored);
  }
  return Done{};
}

// Everything below the folder belongs to the group, which may read and write it; what is
// made there later belongs to it too. Where groups cannot be given away (an ordinary user's
// plane) every container runs as the owner of the folder anyway.
Result<Done> give_to_group(const std::filesystem::path& folder, int64_t group) {
  auto give = [&](const std::filesystem::path& path) -> Result<Done> {
    struct stat about {};
    if (::lstat(path.c_str(), &about) != 0) return Done{};
    if (::lchown(path.c_str(), static_cast<uid_t>(-1), static_cast<gid_t>(group)) != 0) {
      if (errno == EPERM || errno == EINVAL) return Done{};
      return error_of(errno, "give to the group", path.native());
    }
    if (S_ISLNK(about.st_mode)) return Done{};
    mode_t more = S_ISDIR(about.st_mode)
                      ? 02770
                      : (about.st_mode & 0400 ? 0040 : 0) | (about.st_mode & 0200 ? 0020 : 0);
    if (::chmod(path.c_str(), (about.st_mode | more) & 07777) != 0)
      return error_of(errno, "open to the group", path.native());
    return Done{};
  };
  Result<Done> given = give(folder);
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(folder, error), end;
       !error && it != end && given.ok(); it.increment(error)) {
    given = give(it->path());
  }
  return given;
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

// Makes the folders of a path one by one, each found beneath the root again. They are as open as the
// root is, whatever umask we have: a container may run as anybody.
bool make_beneath(int root, const std::string& path) {
  struct stat about {};
  if (::fstat(root, &about) != 0) return false;
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    std::string parent = at == 0 ? "." : path.substr(0, at - 1);
    std::string name = path.substr(at, end - at);
    Fd folder(open_beneath(root, parent));
    if (!folder.valid()) return false;
    if (::mkdirat(folder.get(), name.c_str(), 0777) == 0) {
      Fd made(::openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!made.valid() || ::fchmod(made.get(), about.st_mode & 07777) != 0) return false;
    } else if (errno != EEXIST) {
      return false;
    }
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

Result<Done> find_memory_folders(std::vector<Mount>& mounts) {
  for (Mount& one : mounts) {
    if (one.memory_folder.empty()) continue;
    Result<std::filesystem::path> part = resolve_beneath(one.source, one.memory_folder);
    if (!part.ok()) return part.error();
    one.source = *part;
    one.memory_folder.clear();
    one.exact = true;
  }
  return Done{};
}

std::string unfit_host_path(const HostVolume& host) {
  struct stat about {};
  bool there = ::stat(host.path.c_str(), &about) == 0;
  if (!there && host.type.ends_with("OrCreate")) return "";
  if (!there && host.type.empty()) return fmt::format("hostPath {} does not exist", host.path);
  auto is = [&](mode_t type) { return there && (about.st_mode & S_IFMT) == type; };
  std::string failed = fmt::format("hostPath type check failed: {} is not a ", host.path);
  if (host.type.starts_with("Directory") && !is(S_IFDIR)) return failed + "directory";
  if (host.type.starts_with("File") && !is(S_IFREG)) return failed + "file";
  if (host.type == "Socket" && !is(S_IFSOCK)) return failed + "socket file";
  if (host.type == "CharDevice" && !is(S_IFCHR)) return failed + "character device";
  if (host.type == "BlockDevice" && !is(S_IFBLK)) return failed + "block device";
  return "";
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
                             const std::vector<VolumePlan>& volumes, std::optional<int64_t> group) const {
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
    bool of_host = std::holds_alternative<HostVolume>(volume.kind);
    if (done.ok() && group && !of_host) done = give_to_group(folder, *group);
    if (!done.ok()) return set_up_failed(volume.name, done.error().message);
  }
  return Done{};
}

int64_t Volumes::bytes_of(const std::string& pod_uid, const std::string& volume) const {
  int64_t bytes = 0;
  std::error_code error;
  std::filesystem::path folder = data_dir_ / "pods" / pod_uid / "volumes" / volume;
  for (std::filesystem::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    struct stat about {};
    // What it takes on the disk: holes take nothing.
    if (::lstat(it->path().c_str(), &about) == 0) bytes += int64_t{about.st_blocks} * 512;
  }
  return bytes;
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
    if (mount.memory) {
      // It is not there before the runtime has made it, and so is nothing in it.
      mount.memory_folder = wish.sub_path;
    } else if (!wish.sub_path.empty()) {
      Result<std::filesystem::path> real = resolve_beneath(mount.source, wish.sub_path);
      if (!real.ok()) return real.error();
      mount.source = *real;
      mount.exact = true;
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
