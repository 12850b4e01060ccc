#include "node/sandbox_root.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/fd.h"
#include "node/files.h"
#include "node/sandbox_mounts.h"

namespace trainyard::node {
namespace {

namespace fs = std::filesystem;

constexpr size_t kUserFileMax = 4 << 20;

std::string escaped(const fs::path& path) {
  std::string to;
  for (char c : path.string()) {
    if (c == ',' || c == ':' || c == '\\') to.push_back('\\');
    to.push_back(c);
  }
  return to;
}

std::string read_inside(int root, const char* file) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  Fd fd(static_cast<int>(::syscall(SYS_openat2, root, file, &how, sizeof how)));
  std::string text;
  std::array<char, 16384> buffer;
  while (fd.valid() && text.size() < kUserFileMax) {
    ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n <= 0) break;
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

std::string overlay_options(const fs::path& lower, const fs::path& upper, const fs::path& work,
                            bool user_namespace) {
  return fmt::format("lowerdir={},upperdir={},workdir={}{}", escaped(lower), escaped(upper), escaped(work),
                     user_namespace ? ",userxattr" : "");
}

Result<Done> mount_root(const fs::path& lower, const fs::path& folder, const fs::path& layer,
                        bool user_namespace) {
  for (const fs::path& needed : {folder / "rootfs", layer / "upper", layer / "work"}) {
    if (Result<Done> made = make_folders(needed); !made.ok()) return made;
  }
  std::string options = overlay_options(lower, layer / "upper", layer / "work", user_namespace);
  if (::mount("overlay", (folder / "rootfs").c_str(), "overlay", 0, options.c_str()) != 0) {
    return error_of(errno, "mount a layer over", lower.string());
  }
  // The root of the layer is what the container sees as /.
  ::chmod((layer / "upper").c_str(), 0755);
  return Done{};
}

Result<Done> mount_memory(const fs::path& target, int64_t bytes) {
  if (Result<Done> made = make_folders(target); !made.ok()) return made;
  struct statfs about {};
  struct statfs above {};
  bool there = ::statfs(target.c_str(), &about) == 0 && about.f_type == TMPFS_MAGIC;
  // One that lies in a memory file system is not one itself.
  if (there && ::statfs(target.parent_path().c_str(), &above) == 0 &&
      memcmp(&about.f_fsid, &above.f_fsid, sizeof about.f_fsid) != 0) {
    return Done{};
  }
  std::string options = bytes > 0 ? fmt::format("mode=1777,size={}", bytes) : "mode=1777";
  if (::mount("tmpfs", target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    return error_of(errno, "mount memory at", target.string());
  }
  return Done{};
}

Result<Done> hold_exactly(const fs::path& source, const fs::path& target) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  Fd found(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, source.c_str(), &how, sizeof how)));
  if (!found.valid() && errno == ELOOP) {
    return Error{ErrorKind::kForbidden,
                 fmt::format("{} has become a link: it is not followed", source.string())};
  }
  struct stat about {};
  if (!found.valid() || ::fstat(found.get(), &about) != 0) return error_of(errno, "open", source.string());
  Result<Done> made = make_folders(S_ISDIR(about.st_mode) ? target : target.parent_path());
  if (made.ok() && !S_ISDIR(about.st_mode)) made = write_soon(target, "");
  if (!made.ok()) return made;
  std::string held = fmt::format("/proc/self/fd/{}", found.get());
  if (::mount(held.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0) return Done{};
  return error_of(errno, "hold", source.string());
}

Result<Done> drop_held(const fs::path& folder) {
  std::error_code none;
  std::error_code failure;
  for (fs::directory_iterator it(folder, none), end; !none && it != end; it.increment(none)) {
    fs::remove(it->path(), failure);
    if (failure) return error_of(failure.value(), "remove", it->path().string());
  }
  return Done{};
}

Result<Done> unmount_below(const std::vector<fs::path>& folders) {
  Result<std::string> mounts = read_whole("/proc/self/mountinfo");
  if (!mounts.ok()) return mounts.error();
  for (const fs::path& folder : folders) {
    std::vector<std::string> targets = mounts_below(*mounts, folder.string());
    for (auto target = targets.rbegin(); target != targets.rend(); ++target) {
      if (::umount2(target->c_str(), MNT_DETACH) != 0 && errno != EINVAL && errno != ENOENT) {
        return error_of(errno, "unmount", *target);
      }
    }
  }
  return Done{};
}

Result<std::vector<HostLayer>> make_host_root(const fs::path& folder, const fs::path& layer,
                                              const fs::path& our_own) {
  Result<std::string> mounts = read_whole("/proc/self/mountinfo");
  if (!mounts.ok()) return mounts.error();
  if (Result<Done> made = make_folders(folder / "rootfs"); !made.ok()) return made.error();
  ::chmod((folder / "rootfs").c_str(), 0755);
  constexpr std::array<std::string_view, 5> kOwn = {"dev", "lost+found", "proc", "run", "sys"};
  std::vector<HostLayer> layers;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator("/", failure)) {
    std::string name = entry.path().filename();
    if (entry.is_symlink(failure)) {
      fs::copy_symlink(entry.path(), folder / "rootfs" / name, failure);
      continue;
    }
    if (!entry.is_directory(failure) || std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end()) continue;
    std::vector<std::string> below = mounts_below(*mounts, entry.path().string());
    std::erase(below, entry.path().string());
    for (const std::string& ours : mounts_below(*mounts, our_own.string())) std::erase(below, ours);
    HostLayer one{entry.path().string(), "", ""};
    if (below.empty()) one = {one.target, layer / name / "upper", layer / name / "work"};
    layers.push_back(std::move(one));
  }
  return layers;
}

Result<Done> make_way(const HostLayer& layer, const fs::path& target, bool to_a_file) {
  struct stat about {};
  if (::lstat(target.c_str(), &about) == 0) return Done{};
  fs::path there = layer.target, ours = layer.upper;
  const fs::path rest = target.lexically_relative(layer.target);
  for (auto part = rest.begin(); part != rest.end(); ++part) {
    there /= *part;
    ours /= *part;
    const bool is_there = ::lstat(there.c_str(), &about) == 0;
    if (*part == ".." || (is_there && !S_ISDIR(about.st_mode))) return Done{};
    if (to_a_file && std::next(part) == rest.end()) return write_soon(ours, "");
    if (Result<Done> made = make_folders(ours); !made.ok()) return made;
    ::chmod(ours.c_str(), is_there ? about.st_mode & 07777 : 0755);
  }
  return Done{};
}

UserFiles read_user_files(const fs::path& root) {
  Fd fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return {};
  return {read_inside(fd.get(), "etc/passwd"), read_inside(fd.get(), "etc/group")};
}

}  // namespace trainyard::node
