// ProcessRuntime: containers as plain processes of this machine, for where namespaces are
// not to be had. Each has a session and a group of its own; what it leaves behind is ended
// by its shim. Replicas share the machine's network, so every address in a TF_CONFIG is
// given a port of its own on loopback (local_ports.h); everything that cannot be honoured
// is said by cannot_honour(). Resource; threads as in runtime.h.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "node/local_ports.h"
#include "node/runtime.h"
#include "node/shims.h"

namespace trainyard::node {

struct ProcessRuntimeOptions {
  std::filesystem::path data_dir;      // holds pods/ and runtime/
  std::vector<std::string> shim_argv;  // see ShimsOptions
  // What every container sees before its own environment: PATH, HOME, ...
  std::vector<std::pair<std::string, std::string>> base_env;
};

class ProcessRuntime final : public Runtime {
 public:
  explicit ProcessRuntime(ProcessRuntimeOptions options);
  ~ProcessRuntime() override;

  std::string_view name() const override { return "process"; }
  std::vector<std::string> cannot_honour(const PodPlan& pod,
                                         const std::vector<ContainerPlan>& containers) const override;
  std::string image_id(const std::string&) const override { return ""; }
  Result<std::string> prepare(const PodPlan& pod) override;
  Result<Done> set_hosts(const std::string& pod_uid,
                         const std::map<std::string, std::string>& hosts) override;
  Result<Done> start(const ContainerPlan& plan) override;
  std::vector<ContainerStatus> list() override;
  std::vector<ContainerStatus> list(const std::string& pod_uid) override;
  int changes() const override;
  void drain_changes() override;
  Result<Done> signal(const ContainerId& id, int signal) override;
  // Nothing binds a plain process.
  Enforced enforced() const override { return {false, false}; }
  Result<Done> resize(const ContainerId&, const Limits&) override { return Done{}; }
  Result<Done> remove(const ContainerId& id) override;
  Result<Done> destroy(const std::string& pod_uid) override;
  std::vector<std::string> pods() override;
  Result<std::unique_ptr<ExecProcess>> exec(const ContainerId& id, const ExecPlan& plan) override;
  Result<Fd> connect(const std::string& pod_uid, int port) override;
  std::optional<Usage> usage(const ContainerId& id) override;

 private:
  Result<ShimPlan> shim_plan(const ContainerPlan& plan);
  Result<std::map<std::string, std::string>> claim_ports(const ContainerPlan& plan);
  Result<Done> release_ports(const std::string& pod_uid);
  std::string namespace_of(const std::string& pod_uid) const;

  // Fixed.
  ProcessRuntimeOptions options_;
  // State.
  Shims shims_;
  std::mutex mutex_;
  LocalPorts ports_;  // guarded by mutex_
};

// A command beside a container that runs as a process, with the plan's environment, user
// and folder. Also what a runtime needs to run its own tool (`runc exec`).
Result<std::unique_ptr<ExecProcess>> run_beside(const ShimPlan& plan);

// A non-blocking stream socket connected to a port of this machine or of a pod's address.
Result<Fd> connect_tcp(const std::string& ip, int port);

}  // namespace trainyard::node
