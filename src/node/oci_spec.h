// The configuration that an OCI runtime (runc, crun) starts a container from, built from
// plans. Pure: what it needs to know of the machine is handed in.
//
// Every container of a pod has its own pid and mount namespaces; network, ipc and uts are
// the pod's, joined by path. Capabilities, masked and read-only paths are those that Docker
// and containerd give by default. A mount of the plan wins over one of ours at its target.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "node/runtime.h"

namespace trainyard::node {

inline constexpr int64_t kSandboxPidsMax = 32'768;
inline constexpr int64_t kShmBytesDefault = 64 << 20;

// What an image says about how it is run. Empty for the host's own root.
struct ImageConfig {
  std::vector<std::string> entrypoint;
  std::vector<std::string> cmd;
  std::vector<std::string> env;  // "NAME=value"
  std::string user;              // "1000", "1000:100", "name", "name:group", ""
  std::string working_dir;
  std::string architecture;  // "amd64"; "" when it does not say
  bool operator==(const ImageConfig&) const = default;
};

// The user databases of the container's root, as text.
struct UserFiles {
  std::string passwd;
  std::string group;
};

struct UserIds {
  int64_t uid = 0;
  int64_t gid = 0;
  std::vector<int64_t> more_gids;
  bool operator==(const UserIds&) const = default;
};

// Who an image's `user` is. kInvalid when a name is not in the files.
Result<UserIds> find_user(std::string_view user, const UserFiles& files);

struct DeviceNode {
  std::string path;
  char type = 'c';
  int64_t major = 0;
  int64_t minor = 0;
  bool operator==(const DeviceNode&) const = default;
};

// A folder of the host that the host's root shows and an overlay of it does not.
struct HostLayer {
  std::string target;
  std::filesystem::path upper;  // "": shown as it is, read-only
  std::filesystem::path work;
};

// Limits that the control groups of this machine have besides that of memory.
struct KernelLimits {
  bool cpu = true;
  bool swap = false;
};

// What has been made for this container on this machine before it starts.
struct SandboxFacts {
  std::filesystem::path root;  // the mounted root file system
  bool host_root = false;      // it is the host's own, below a writable layer
  std::vector<HostLayer> host_layers;
  std::vector<std::string> hidden;   // folders of the host that the container must not see
  std::filesystem::path network_ns;  // "" for the host's network
  std::filesystem::path pid_ns;      // "" for one of its own
  std::filesystem::path ipc_ns;
  std::filesystem::path uts_ns;
  std::filesystem::path hosts;
  std::filesystem::path hostname;
  std::filesystem::path resolv_conf;
  std::filesystem::path shm;
  std::string cgroup_path;  // absolute, below the mount point of each hierarchy
  bool cgroup_v2 = false;
  bool cgroups = true;          // limits may be set
  KernelLimits limits;          // which
  bool user_namespace = false;  // everything is made by a user who is root of a namespace only
  UserFiles users;
  std::vector<DeviceNode> devices;  // of the GPUs it was given
  int cap_last = 40;                // the highest capability that the kernel knows
};

// Why a container cannot start that has no command and whose image gives none.
std::string no_command_words(const ContainerPlan& plan);
// The command line: what the plan says, filled up from the image. kInvalid when there is none.
Result<std::vector<std::string>> command_line(const ContainerPlan& plan, const ImageConfig& image);

// "NAME=value" in order, each name once: defaults, then the image's, then the plan's.
std::vector<std::string> environment(const PodPlan& pod, const ContainerPlan& plan, const ImageConfig& image,
                                     bool own_gpus);

// {cpu, memory} of the resources of a container, as far as they can be set.
json::object oci_limits(const Limits& limits, const KernelLimits& here);

Result<json::object> oci_spec(const PodPlan& pod, const ContainerPlan& plan, const ImageConfig& image,
                              const SandboxFacts& facts);

}  // namespace trainyard::node
