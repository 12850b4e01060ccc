// Shims: the node's side of its shims. Starts one per container, finds those of an earlier
// life of the node, tells when one ends. Both runtimes stand on it. Resource; thread-safe: calls
// for different pods do not wait for one another longer than it takes to look something up.
//
// Everything known is on disk below `root`: <root>/<pod uid>/containers/<name>/<attempt>/.
// A container whose folder holds a plan but that was never started (the node died in
// between) is not listed, and may be started again.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "node/runtime.h"
#include "node/shim_plan.h"

namespace trainyard::node {

struct ShimsOptions {
  std::filesystem::path root;          // the data folder's pods/
  std::vector<std::string> shim_argv;  // {"/proc/self/exe", "shim"}; the plan's path is added
};

// Whom a signal is for: the container's first process; or, when that leads one, its group.
enum class Reach { kProcess, kGroup };

class Shims {
 public:
  explicit Shims(ShimsOptions options);
  ~Shims();
  Shims(const Shims&) = delete;
  Shims& operator=(const Shims&) = delete;

  // Returns once the shim is on its way. Idempotent by id, also across lives of the node.
  Result<Done> start(const ContainerId& id, const ShimPlan& plan);
  // All that were started and not removed. A shim that died without a word counts as
  // ended with 137 and a message; whatever its container left running is killed first.
  std::vector<ContainerStatus> list();
  std::vector<ContainerStatus> list(const std::string& pod_uid);  // the same, of one pod
  std::optional<ContainerStatus> find(const ContainerId& id);
  // Readable when list() may have something new.
  int changes() const;
  void drain_changes();

  // While it runs and is known to have begun.
  std::optional<ShimState> state(const ContainerId& id);
  Result<ShimPlan> plan(const ContainerId& id) const;
  Result<Done> signal(const ContainerId& id, int signal, Reach reach);
  // The container's own streams.
  Result<std::unique_ptr<ExecProcess>> attach(const ContainerId& id, const ExecPlan& plan);
  // Forgets an ended one. kConflict while it runs.
  Result<Done> remove(const ContainerId& id);
  // Kills what runs of this pod, waits until it is gone and forgets it.
  Result<Done> destroy(const std::string& pod_uid);

  std::filesystem::path folder(const ContainerId& id) const;

 private:
  struct Entry;
  void scan();
  void watch(const ContainerId& id, Entry& entry);
  void refresh(Entry& entry);
  void reap_starters();

  // Fixed.
  ShimsOptions options_;
  Fd epoll_;
  // State, guarded by mutex_. What is private is called with it held.
  std::mutex mutex_;
  std::map<ContainerId, Entry> entries_;
  std::vector<int> starters_;  // processes that became shims by leaving; to be reaped
};

// How many pods have a container that runs, whether or not somebody looks after them. Changes nothing.
int pods_running_below(const std::filesystem::path& root);

}  // namespace trainyard::node
