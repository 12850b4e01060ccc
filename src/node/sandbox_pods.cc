// The pods of the sandbox runtime: prepared, found again, taken away. Called on several threads.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kube/access.h"
#include "node/files.h"
#include "node/sandbox_mounts.h"
#include "node/sandbox_namespaces.h"
#include "node/sandbox_root.h"
#include "node/sandbox_runtime.h"
#include "node/sandbox_words.h"

namespace trainyard::node {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSandboxPodFile = "pod.json";
constexpr const char* kWholeFile = "whole";  // there once everything else of the pod is

json::object to_json(const PodPlan& pod) {
  json::object sysctls;
  for (const auto& [name, value] : pod.sysctls) sysctls[kube::jview(name)] = value;
  return {{"uid", pod.uid},
          {"namespace", pod.ns},
          {"name", pod.name},
          {"hostname", pod.hostname},
          {"fqdn", pod.fqdn},
          {"sysctls", sysctls},
          {"hostNetwork", pod.host_network}};
}

std::string own_names(const PodPlan& pod) {
  return pod.fqdn.empty() ? pod.hostname : fmt::format("{}\t{}", pod.fqdn, pod.hostname);
}

PodPlan pod_from(const json::object& from) {
  PodPlan pod;
  pod.uid = kube::text_at(from, {"uid"});
  pod.ns = kube::text_at(from, {"namespace"});
  pod.name = kube::text_at(from, {"name"});
  pod.hostname = kube::text_at(from, {"hostname"});
  pod.fqdn = kube::text_at(from, {"fqdn"});
  pod.host_network = kube::bool_at(from, {"hostNetwork"}).value_or(false);
  const json::object* sysctls = kube::object_at(from, {"sysctls"});
  for (const auto& [name, value] : sysctls == nullptr ? json::object() : *sysctls) {
    if (value.is_string()) pod.sysctls[std::string(kube::view(name))] = kube::view(value.get_string());
  }
  return pod;
}

// The address under which others reach this machine: that of the way out. Nothing is sent.
std::string host_address() {
  Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(0xc0000201);  // 192.0.2.1, a documentation address
  socklen_t size = sizeof address;
  std::array<char, INET_ADDRSTRLEN> text{};
  if (!fd.valid() || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size()) == nullptr) {
    return "127.0.0.1";
  }
  return text.data();
}

// In place: the file is mounted in containers, which would not see another one.
Result<Done> write_in_place(const fs::path& file, std::string_view text) {
  Fd fd(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  if (!fd.valid()) return error_of(errno, "open", file.string());
  ::fchmod(fd.get(), 0644);  // whatever the mask: every user of the container reads it
  if (::pwrite(fd.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      ::ftruncate(fd.get(), static_cast<off_t>(text.size())) != 0) {
    return error_of(errno, "write", file.string());
  }
  return Done{};
}

}  // namespace

std::optional<SandboxRuntime::Pod> SandboxRuntime::find_pod(const std::string& uid) const {
  std::lock_guard lock(mutex_);
  auto found = pods_.find(uid);
  if (found == pods_.end()) return std::nullopt;
  return found->second;
}

void SandboxRuntime::keep_pod(Pod pod) {
  std::lock_guard lock(mutex_);
  std::string uid = pod.plan.uid;
  pods_[uid] = std::move(pod);
}

void SandboxRuntime::load_pods() {
  std::error_code failure;
  for (fs::directory_iterator it(folder_ / "pods", failure), end; !failure && it != end;
       it.increment(failure)) {
    std::string uid = it->path().filename();
    Pod pod;
    Result<std::string> text = read_whole(it->path() / kSandboxPodFile);
    boost::system::error_code bad;
    json::value value = text.ok() ? json::parse(kube::jview(*text), bad) : json::value();
    if (value.is_object()) pod.plan = pod_from(value.get_object());
    pod.plan.uid = uid;
    pod.ip = pod.plan.host_network ? host_address() : network_->address_of(uid).value_or("");
    keep_pod(std::move(pod));
  }
}

Result<Done> SandboxRuntime::make_pod_files(const PodPlan& pod, const std::string& ip) {
  fs::path folder = pod_folder(pod.uid);
  bool outside = pod.host_network || options_.outside;
  Result<std::string> resolv = read_whole("/run/systemd/resolve/resolv.conf");
  if (!resolv.ok() || pod.host_network) resolv = read_whole("/etc/resolv.conf");
  std::string resolv_conf =
      pod.host_network ? resolv.ok() ? *resolv : "" : resolv_text(resolv.ok() ? *resolv : "", outside);
  Result<Done> written = write_in_place(folder / "resolv.conf", resolv_conf);
  if (written.ok()) written = write_in_place(folder / "hostname", pod.hostname + "\n");
  if (written.ok() && !fs::exists(folder / "hosts")) {
    written = write_in_place(folder / "hosts", hosts_text(own_names(pod), ip, {}));
  }
  if (written.ok()) written = mount_memory(folder / "shm", kShmBytesDefault);
  return written;
}

Result<std::string> SandboxRuntime::prepare(const PodPlan& pod) {
  if (std::optional<Pod> known = find_pod(pod.uid); known && !known->ip.empty()) {
    NamespaceFiles files = namespace_files(pod_folder(pod.uid) / "ns");
    if (is_namespace(files.ipc) && fs::exists(pod_folder(pod.uid) / kWholeFile)) return known->ip;
  }
  fs::path folder = pod_folder(pod.uid);
  if (Result<Done> made = make_folders(folder); !made.ok()) return made.error();
  Result<Done> noted = write_soon(folder / kSandboxPodFile, json::serialize(to_json(pod)));
  if (!noted.ok()) return noted.error();
  keep_pod({pod, ""});
  Result<Done> made = make_namespaces(folder / "ns", pod.hostname, !pod.host_network);
  if (!made.ok()) return made.error();
  Result<std::string> ip = host_address();
  if (!pod.host_network) ip = network_->attach(pod.uid, namespace_files(folder / "ns").network);
  if (!ip.ok()) return ip.error();
  if (Result<Done> files = make_pod_files(pod, *ip); !files.ok()) return files.error();
  if (Result<Done> whole = write_soon(folder / kWholeFile, ""); !whole.ok()) return whole.error();
  keep_pod({pod, *ip});
  return *ip;
}

Result<Done> SandboxRuntime::set_hosts(const std::string& uid,
                                       const std::map<std::string, std::string>& hosts) {
  std::optional<Pod> pod = find_pod(uid);
  if (!pod) return Error{ErrorKind::kNotFound, fmt::format("pod {} is not here", uid)};
  return write_in_place(pod_folder(uid) / "hosts", hosts_text(own_names(pod->plan), pod->ip, hosts));
}

Result<Done> SandboxRuntime::destroy(const std::string& uid) {
  std::vector<ContainerStatus> known = shims_.list(uid);
  if (Result<Done> ended = shims_.destroy(uid); !ended.ok()) return ended;
  for (const ContainerStatus& one : known) ::unlink(console(one.id).c_str());
  if (Result<Done> gone = cgroups_.destroy(cgroup_of(uid)); !gone.ok()) return gone;
  fs::path folder = pod_folder(uid);
  // Memory volumes lie with the pod's other volumes.
  Result<Done> unmounted =
      unmount_below({folder / "containers", folder / "shm", options_.data_dir / "pods" / uid});
  if (!unmounted.ok()) return unmounted;
  std::error_code none;
  for (fs::directory_iterator it(folder / "containers", none), end; !none && it != end; it.increment(none)) {
    if (Result<Done> gone = drop_held(it->path() / "held"); !gone.ok()) return gone;
  }
  if (Result<Done> gone = network_->detach(uid); !gone.ok()) return gone;
  if (Result<Done> gone = remove_namespaces(folder / "ns"); !gone.ok()) return gone;
  std::error_code failure;
  for (const char* tool : {"runc", "crun"}) {
    std::error_code none;
    for (fs::directory_iterator it(folder_ / tool, none), end; !none && it != end; it.increment(none)) {
      if (it->path().filename().string().starts_with(uid + ".")) fs::remove_all(it->path(), failure);
    }
  }
  fs::remove_all(folder_ / "memory" / uid, failure);
  fs::remove_all(folder, failure);
  if (failure) return error_of(failure.value(), "remove", folder.string());
  std::lock_guard lock(mutex_);
  std::erase_if(oom_, [&](const auto& entry) { return entry.first.pod_uid == uid; });
  pods_.erase(uid);
  return Done{};
}

std::vector<std::string> SandboxRuntime::pods() {
  std::lock_guard lock(mutex_);
  std::vector<std::string> uids;
  for (const auto& [uid, pod] : pods_) uids.push_back(uid);
  return uids;
}

Result<Fd> SandboxRuntime::connect(const std::string& uid, int port) {
  std::optional<Pod> pod = find_pod(uid);
  if (!pod) return Error{ErrorKind::kNotFound, fmt::format("pod {} is not here", uid)};
  fs::path network = pod->plan.host_network ? fs::path() : namespace_files(pod_folder(uid) / "ns").network;
  return connect_in(network, pod->ip, port);
}

}  // namespace trainyard::node
