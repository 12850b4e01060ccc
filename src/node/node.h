// Node: runs the pods that are bound to this machine. It follows pods and services, keeps
// a machine (pod_machine.h) for each pod, carries out through the runtime what the machine
// decides, and writes back the pod's status. It also registers itself as a Node object
// and renews its Lease.
//
// One thread of its own; the public methods are thread-safe and return soon. A node that
// is stopped or killed leaves its containers running; the next one adopts them by the uid
// of their pod and ends those whose pod is gone.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/time.h"
#include "client/client.h"
#include "client/watch_source.h"
#include "node/log_files.h"
#include "node/log_prune.h"
#include "node/pod_plan.h"
#include "node/runtime.h"

namespace trainyard::node {

struct NodeOptions {
  std::string name = "trainyard";
  std::filesystem::path data_dir;  // see the files of pods/, logs/ and volumes/
  std::string host_ip = "127.0.0.1";
  std::string cluster_domain = "cluster.local";  // what the names of services and pods end in
  Requests capacity;       // CPU and memory of the machine; GPUs are counted from `gpus`
  int64_t disk_bytes = 0;  // of the file system that pods write to; 0: not told
  int pods_max = 1000;
  std::vector<int> gpus;  // of this machine, as CUDA numbers them
  // Pods whose requests do not fit beside those that are here are refused (OutOfcpu, ...).
  // GPUs are always counted.
  bool enforce_requests = false;
  // The scheduler promises more CPU than there is: a resize of it always fits.
  bool overcommits_cpu = false;
  std::map<std::string, std::string> labels;  // of the Node object, besides the usual ones
  std::string version = "v1.33.0";            // what the Node object calls its kubelet
  std::function<Time()> clock;                // REQUIRES: set
  LogLimits logs;                             // of those that are kept
  Duration upkeep_every{10'000};              // files of configMaps and secrets, sizes of emptyDirs
};

struct PodRef {
  std::string ns;
  std::string name;
  std::string uid;  // "" for the newest of that name
  std::string container;
};

struct UsageRate {
  int64_t cpu_nanocores = 0;
  int64_t memory_bytes = 0;
};

class Node {
 public:
  // The ports outlive the node.
  Node(NodeOptions options, client::Client& client, client::WatchSource& watches, Runtime& runtime);
  ~Node();  // stops, keeping pods
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void start();
  // Without `keep_pods` everything that runs is killed first.
  void stop(bool keep_pods);
  // The clock was moved by hand: look again.
  void poke();

  // What of this pod the runtime would not honour, in words. Asks for no object.
  std::vector<std::string> cannot_honour(const json::object& pod);

  // Of a container that has just been started the log is empty and can be followed. kInvalid
  // while it has not been; kNotFound when nobody knows it.
  Result<std::unique_ptr<LogReader>> logs(const PodRef& pod, const LogQuery& query);
  // An empty command attaches. It has begun, or begun() says why it never will.
  Result<std::unique_ptr<ExecProcess>> exec(const PodRef& pod, const ExecPlan& plan);
  Result<Fd> connect(const PodRef& pod, int port);
  // By container, of those that run.
  std::map<std::string, UsageRate> usage(const std::string& pod_uid);
  UsageRate node_usage();

 private:
  class Agent;
  std::unique_ptr<Agent> agent_;
};

}  // namespace trainyard::node
