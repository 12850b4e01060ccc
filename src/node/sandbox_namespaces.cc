#include "node/sandbox_namespaces.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "node/files.h"
#include "node/network_link.h"

namespace trainyard::node {
namespace {

namespace fs = std::filesystem;

constexpr int kConnectMillisMax = 2000;

struct Kind {
  fs::path file;
  const char* kernel_name;
  int flag;
};

std::array<Kind, 3> kinds(const fs::path& folder) {
  NamespaceFiles files = namespace_files(folder);
  return {{{files.network, "net", CLONE_NEWNET},
           {files.ipc, "ipc", CLONE_NEWIPC},
           {files.uts, "uts", CLONE_NEWUTS}}};
}

// Runs in a thread that has the new namespaces: mounts them on their files.
Result<Done> keep(const fs::path& folder, int flags) {
  for (const Kind& kind : kinds(folder)) {
    if ((flags & kind.flag) == 0) continue;
    Fd file(::open(kind.file.c_str(), O_CREAT | O_RDONLY | O_CLOEXEC, 0400));
    if (!file.valid()) return error_of(errno, "make", kind.file.string());
    std::string source = fmt::format("/proc/thread-self/ns/{}", kind.kernel_name);
    if (::mount(source.c_str(), kind.file.c_str(), nullptr, MS_BIND, nullptr) != 0) {
      return error_of(errno, "mount a namespace on", kind.file.string());
    }
  }
  return Done{};
}

Result<Fd> connect_here(const std::string& ip, int port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  if (::inet_pton(AF_INET, ip.c_str(), &to.sin_addr) != 1) {
    return Error{ErrorKind::kInvalid, fmt::format("not an address: {}", ip)};
  }
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return error_of(errno, "make", "a socket");
  int failure = 0;
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) failure = errno;
  if (failure == EINPROGRESS) {
    pollfd wait{fd.get(), POLLOUT, 0};
    failure = ETIMEDOUT;
    socklen_t size = sizeof failure;
    if (::poll(&wait, 1, kConnectMillisMax) == 1) {
      ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
    }
  }
  if (failure == 0) return fd;
  return Error{ErrorKind::kUnavailable, fmt::format("connect to {}:{}: {}", ip, port, ::strerror(failure))};
}

}  // namespace

NamespaceFiles namespace_files(const fs::path& folder) {
  return {folder / "net", folder / "ipc", folder / "uts"};
}

bool is_namespace(const fs::path& file) {
  struct statfs about {};
  return ::statfs(file.c_str(), &about) == 0 && about.f_type == NSFS_MAGIC;
}

Result<Done> make_namespaces(const fs::path& folder, const std::string& hostname, bool own_network) {
  Result<Done> made = make_folders(folder);
  if (!made.ok()) return made;
  int flags = 0;
  for (const Kind& kind : kinds(folder)) {
    bool wanted = kind.flag != CLONE_NEWNET || own_network;
    if (wanted && !is_namespace(kind.file)) flags |= kind.flag;
  }
  if (flags == 0) return Done{};
  Result<Done> result = Done{};
  std::thread maker([&] {
    if (::unshare(flags) != 0) {
      result = error_of(errno, "make", "namespaces");
      return;
    }
    if ((flags & CLONE_NEWUTS) != 0 && ::sethostname(hostname.data(), hostname.size()) != 0) {
      result = error_of(errno, "set the host name", hostname);
      return;
    }
    result = keep(folder, flags);
  });
  maker.join();
  return result;
}

Result<Done> remove_namespaces(const fs::path& folder) {
  for (const Kind& kind : kinds(folder)) {
    while (is_namespace(kind.file)) {
      if (::umount2(kind.file.c_str(), MNT_DETACH) != 0)
        return error_of(errno, "unmount", kind.file.string());
    }
    if (::unlink(kind.file.c_str()) != 0 && errno != ENOENT) {
      return error_of(errno, "remove", kind.file.string());
    }
  }
  return Done{};
}

Result<Fd> connect_in(const fs::path& network, const std::string& ip, int port) {
  Fd ns;
  if (!network.empty()) {
    ns = Fd(::open(network.c_str(), O_RDONLY | O_CLOEXEC));
    if (!ns.valid()) return error_of(errno, "open", network.string());
  }
  Fd connected;
  Result<Done> result = in_network(ns.get(), [&]() -> Result<Done> {
    Result<Fd> fd = connect_here("127.0.0.1", port);
    if (!fd.ok() && !ip.empty()) fd = connect_here(ip, port);
    if (!fd.ok()) return fd.error();
    connected = std::move(fd).value();
    return Done{};
  });
  if (!result.ok()) return result.error();
  return connected;
}

}  // namespace trainyard::node
