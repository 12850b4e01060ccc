// Runtime: the port through which the node runs containers. Two bodies: `sandbox` (an OCI
// runtime, own namespaces, own IP, cgroup limits) and `process` (plain processes of this
// machine). Everything it is told has been decided before: plans are values.
//
// Containers outlive the node: each is watched by a shim process of its own that copies
// its output to the log file and writes down how it ended, so a node that is killed and
// comes back adopts what runs and learns every exit code (see shim.h).
//
// Used by one thread, but for prepare() and destroy(), which take long: any thread calls them, several
// at a time for different pods, while nothing else is asked about those.
// Names: a pod is its uid, a container is (pod uid, name, attempt).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/time.h"
#include "node/capabilities.h"

namespace trainyard::node {

// One start of one container of one pod; attempts count from 0.
struct ContainerId {
  std::string pod_uid;
  std::string container;
  int attempt = 0;
  auto operator<=>(const ContainerId&) const = default;
};

struct Mount {
  // On this machine. Of a memory file system: the folder where the pod's containers share
  // it; "" when it is the container's own.
  std::filesystem::path source;
  std::string target;  // in the container, absolute and clean
  bool read_only = false;
  std::optional<int64_t> memory_bytes;  // of a memory file system: its size; nullopt: no limit of its own
  bool memory = false;
  // No link is on the way to the source (it was found beneath a volume): one that appears
  // there, put by whoever else writes to the volume, is never followed.
  bool exact = false;
  // Of a memory file system that the containers share: the part of it that is seen, made when it is
  // not there; "" all of it.
  std::string memory_folder;
  bool operator==(const Mount&) const = default;
};

// What a container may use; see limits_of() in pod_plan.h.
struct Limits {
  std::optional<int64_t> cpu_millis;
  std::optional<int64_t> memory_bytes;
  int64_t cpu_request_millis = 0;  // a share when the machine is busy
  bool operator==(const Limits&) const = default;
};

// Which limits bind containers.
struct Enforced {
  bool cpu = true;
  bool memory = true;
  bool operator==(const Enforced&) const = default;
};

// What the containers of a pod share.
struct PodPlan {
  std::string uid;
  std::string ns;
  std::string name;
  std::string hostname;
  bool host_network = false;
  std::map<std::string, std::string> sysctls;
  std::string fqdn;  // the host's whole name, where the pod has a subdomain
  bool operator==(const PodPlan&) const = default;
};

struct ContainerPlan {
  ContainerId id;
  std::string image;               // as written in the pod
  std::string target;              // the container whose processes it sees as well, "" for none
  std::vector<std::string> argv;   // command and args after $(VAR) expansion; empty: the image's own
  bool argv_is_args_only = false;  // argv holds args for the image's entrypoint
  std::vector<std::pair<std::string, std::string>> env;  // in order, after expansion
  std::string working_dir;                               // "" for the image's
  std::vector<Mount> mounts;                             // sorted: parents before children
  Limits limits;
  std::optional<int64_t> run_as_user;
  std::optional<int64_t> run_as_group;
  std::vector<int64_t> more_groups;  // beside those that the image gives its user
  bool read_only_root = false;
  bool privileged = false;
  CapabilityWishes capabilities;
  bool no_new_privileges = false;
  bool non_root = false;  // it may not be user 0
  std::vector<int> gpus;  // of this machine
  bool tty = false;
  bool stdin_open = false;
  std::filesystem::path log_file;          // where its output goes
  std::filesystem::path termination_file;  // where its last words are found, "" for none
  bool operator==(const ContainerPlan&) const = default;
};

// kStarting: asked for, and its process is not known to have begun.
enum class ContainerPhase { kStarting, kRunning, kExited };

struct ContainerStatus {
  ContainerId id;
  ContainerPhase phase = ContainerPhase::kStarting;
  Time started;  // of kStarting: when it was asked for
  // Of kExited.
  Time finished;
  int exit_code = 0;  // 128 + signal when killed by one
  int signal = 0;
  bool oom_killed = false;
  std::string message;  // why it could not be started, for exit codes 127, 126 and 128
};

struct Usage {
  int64_t cpu_nanos_total = 0;  // since the start
  int64_t memory_bytes = 0;     // working set
};

// A command inside a container, or the container's own streams (attach).
struct ExecPlan {
  std::vector<std::string> argv;  // empty: attach
  bool in = false;
  bool tty = false;
};

class ExecProcess {
 public:
  virtual ~ExecProcess() = default;  // kills it if it still runs
  Fd in;                             // non-blocking, as is everything here
  Fd out;
  Fd err;
  Fd exited;  // readable once it has ended
  virtual void resize(int columns, int rows) = 0;
  virtual std::optional<int> exit_code() = 0;  // once `exited` is readable
  // Whether the command itself has begun; false: not yet. An error when it never will: then
  // nothing comes from its streams.
  virtual Result<bool> begun() { return true; }
};

class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual std::string_view name() const = 0;  // "sandbox", "process"
  // What of this pod it cannot honour, in words for the user; asked before anything starts.
  virtual std::vector<std::string> cannot_honour(const PodPlan& pod,
                                                 const std::vector<ContainerPlan>& containers) const = 0;

  // Whether containers of this image run on it; otherwise they run on the host's own root.
  virtual std::string image_id(const std::string& image) const = 0;
  bool has_image(const std::string& image) const { return !image_id(image).empty(); }
  // Makes what the containers share (network, cgroup, hosts file). Idempotent. The pod's IP.
  virtual Result<std::string> prepare(const PodPlan& pod) = 0;
  // Names that resolve inside the pod, replacing those told before: host name -> IP.
  virtual Result<Done> set_hosts(const std::string& pod_uid,
                                 const std::map<std::string, std::string>& hosts) = 0;
  // Starts it, or finds that it has been started already (idempotent by id).
  virtual Result<Done> start(const ContainerPlan& plan) = 0;
  // Everything known, running or ended and not yet removed, of this node; also what an
  // earlier life of the node started.
  virtual std::vector<ContainerStatus> list() = 0;
  virtual std::vector<ContainerStatus> list(const std::string& pod_uid) = 0;  // the same, of one pod
  // Readable when list() may have something new; the caller drains nothing.
  virtual int changes() const = 0;
  virtual void drain_changes() = 0;
  // To the container's first process (and, in the process runtime, its group).
  virtual Result<Done> signal(const ContainerId& id, int signal) = 0;
  // resize() changes nothing of what is not enforced and is well.
  virtual Enforced enforced() const = 0;
  // Other limits for a container that runs. A limit that is not named stays as it is.
  virtual Result<Done> resize(const ContainerId& id, const Limits& limits) = 0;
  // Forgets an ended container; its log stays.
  virtual Result<Done> remove(const ContainerId& id) = 0;
  // Ends whatever is left and takes away what prepare() made. Idempotent.
  virtual Result<Done> destroy(const std::string& pod_uid) = 0;
  // Pods that prepare() made, in this life or an earlier one.
  virtual std::vector<std::string> pods() = 0;

  virtual Result<std::unique_ptr<ExecProcess>> exec(const ContainerId& id, const ExecPlan& plan) = 0;
  // A connection to a port inside the pod.
  virtual Result<Fd> connect(const std::string& pod_uid, int port) = 0;
  virtual std::optional<Usage> usage(const ContainerId& id) = 0;
};

}  // namespace trainyard::node
