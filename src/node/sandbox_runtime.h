// SandboxRuntime: containers in namespaces of their own through runc or crun. A pod has an
// IP, a hosts file, memory to share (/dev/shm) and control groups; a container has a root of
// its own: its image, or the host's root, below a layer that it writes to.
//
// Everything is below <data_dir>/sandbox and /trainyard/<plane> of the control groups, and
// destroy() takes all of it away. Two planes with different data folders do not meet.
// Resource; threads as in runtime.h.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/cgroup.h"
#include "node/gpu.h"
#include "node/image_store.h"
#include "node/network.h"
#include "node/runtime.h"
#include "node/sandbox_support.h"
#include "node/shims.h"

namespace trainyard::node {

struct SandboxOptions {
  std::filesystem::path data_dir;      // absolute
  std::vector<std::string> shim_argv;  // see ShimsOptions
  SandboxSupport support;              // of this machine
  Gpus gpus;
  bool outside = false;  // pods reach the world (masquerade)
};

// An OCI runtime and where it keeps what it knows of containers; none reads another's.
struct OciTool {
  std::filesystem::path program;
  std::filesystem::path state;
};

class SandboxRuntime final : public Runtime {
 public:
  static Result<std::unique_ptr<SandboxRuntime>> open(SandboxOptions options);
  // Containers stay. Without pods, what they would share (the bridge) goes as well.
  ~SandboxRuntime() override;

  std::string_view name() const override { return "sandbox"; }
  std::vector<std::string> cannot_honour(const PodPlan& pod,
                                         const std::vector<ContainerPlan>& containers) const override;
  std::string image_id(const std::string& image) const override;
  Result<std::string> prepare(const PodPlan& pod) override;
  Result<Done> set_hosts(const std::string& pod_uid,
                         const std::map<std::string, std::string>& hosts) override;
  Result<Done> start(const ContainerPlan& plan) override;
  std::vector<ContainerStatus> list() override;
  std::vector<ContainerStatus> list(const std::string& pod_uid) override;
  int changes() const override;
  void drain_changes() override;
  Result<Done> signal(const ContainerId& id, int signal) override;
  Enforced enforced() const override { return options_.support.enforced(); }
  Result<Done> resize(const ContainerId& id, const Limits& limits) override;
  Result<Done> remove(const ContainerId& id) override;
  Result<Done> destroy(const std::string& pod_uid) override;
  std::vector<std::string> pods() override;
  Result<std::unique_ptr<ExecProcess>> exec(const ContainerId& id, const ExecPlan& plan) override;
  Result<Fd> connect(const std::string& pod_uid, int port) override;
  std::optional<Usage> usage(const ContainerId& id) override;

 private:
  struct Pod {
    PodPlan plan;
    std::string ip;
  };

  SandboxRuntime(SandboxOptions options, std::unique_ptr<Network> network);
  Result<Done> begin();
  // Pods (sandbox_pods.cc).
  void load_pods();
  std::optional<Pod> find_pod(const std::string& uid) const;
  void keep_pod(Pod pod);
  std::filesystem::path pod_folder(const std::string& uid) const;
  std::filesystem::path bundle(const ContainerId& id) const;
  std::filesystem::path layer(const ContainerId& id) const;
  std::filesystem::path console(const ContainerId& id) const;
  OciTool tool() const;
  OciTool tool_of(const ContainerId& id) const;
  std::string cgroup_of(const std::string& pod_uid) const;
  std::string cgroup_of(const ContainerId& id) const;
  Result<Done> make_pod_files(const PodPlan& pod, const std::string& ip);
  Result<Done> mount_memory_volumes(const ContainerPlan& plan);
  SandboxFacts facts(const Pod& pod, const ContainerPlan& plan, const std::optional<Image>& image);
  KernelLimits limits_here() const;
  // Where the processes of the container are that this one looks into; "" when it does not run.
  std::filesystem::path pid_namespace(const std::string& pod_uid, const std::string& container);
  std::vector<HostLayer> host_layers(const ContainerId& id) const;
  Result<Done> make_root(const ContainerId& id, const std::optional<Image>& image,
                         const std::vector<Mount>& mounts, SandboxFacts& known);
  Result<Done> hold_mounts(ContainerPlan& plan) const;
  Result<Done> make_bundle(const Pod& pod, const ContainerPlan& plan);
  ShimPlan shim_plan(const ContainerPlan& plan) const;
  std::vector<ContainerStatus> judged(std::vector<ContainerStatus> all);
  Result<Done> clear(const ContainerId& id);

  // Fixed.
  SandboxOptions options_;
  std::filesystem::path folder_;
  std::string plane_;
  Cgroups cgroups_;
  ImageStore images_;
  // State.
  std::unique_ptr<Network> network_;
  Shims shims_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, Pod> pods_;
  std::map<ContainerId, bool> oom_;  // of ended containers
};

// Eight hexadecimal digits that tell planes with different data folders apart. Pure.
std::string plane_id(const std::filesystem::path& data_dir);

}  // namespace trainyard::node
