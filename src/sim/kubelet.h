// Kubelet: a model of what nodes do with pods: start their containers, run them, see
// them end, restart them in place where the pod says so, stop them when they are
// deleted; and of what goes wrong there: failures with every exit code that matters,
// evictions, nodes that vanish, images that cannot be pulled, deletions that hang.
//
// In a scripted world nothing happens by chance: pods start and run until they are told
// to end.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "sim/cluster.h"
#include "sim/facts.h"
#include "sim/options.h"

namespace trainyard::sim {

class Kubelet {
 public:
  // What others are told of nodes, in worlds where they are objects.
  struct NodeNews {
    std::function<void(const std::string& node)> lost;
    std::function<void(const std::string& node)> back;
  };
  Kubelet(Cluster& cluster, const Options& options, bool scripted);
  void tell_nodes(NodeNews news) { node_news_ = std::move(news); }
  Kubelet(const Kubelet&) = delete;
  Kubelet& operator=(const Kubelet&) = delete;

  // A listener of the cluster.
  void on_change(const Change& change);
  // The trouble is over: nodes come back, what hangs goes on, what runs ends well.
  void settle();

  // By hand. `name_end` is the end of a pod's name: "worker-0". A pod that is not there
  // or not running is left alone.
  void end_pod(std::string_view name_end, int exit_code);
  void evict_pod(std::string_view name_end);
  // When it is deleted it will hang until settle().
  void hang_pod(std::string_view name_end);
  // The node on which the pod runs is gone: its pods hang in deletion until settle().
  void lose_node_of(std::string_view name_end);
  // Asks every pod on the node to go, as a drain does.
  void empty_node(const std::string& node);

 private:
  enum class Stage { kCreated, kPulling, kRunning, kCrashed, kEnded };
  struct Body {
    std::string name;
    std::string uid;
    std::string node;
    std::string container;
    std::string restart_policy;
    std::string job_name;
    std::string job_uid;
    std::string role;
    Stage stage = Stage::kCreated;
    PodPhase phase = PodPhase::kPending;
    int exit_code = 0;
    int restarts = 0;
    bool deleting = false;
    bool disrupted = false;
    bool preempted = false;  // disrupted, by its scheduler
    bool stuck = false;      // in deletion, until settle()
    std::string reason;
    std::string waiting;
    std::optional<Time> started_at;
    std::optional<Time> finished_at;
    int run = 0;  // which run of the containers a planned end is about
  };

  void admit(const json::object& pod);
  void bind(Body& body, std::string_view node);
  void start(const std::string& uid);
  void refuse(const std::string& uid);
  void plan_end(const Body& body);
  void end_run(const std::string& uid, int run, int exit_code);
  void restart(const std::string& uid, int run);
  void evict(Body& body);
  void stop(const std::string& uid);
  void lose_node(const std::string& node);
  bool is_lost(const std::string& node) const;
  void collect_unreachable(const std::string& uid);
  void trouble_for(const Body& body);
  void write(const Body& body);
  Body* find(const std::string& uid);
  Body* find_by_end(std::string_view name_end);
  int pick_exit_code();
  // Whether the containers of this pod run on for ever once the trouble is over.
  bool runs_for_ever(const Body& body) const;
  Duration some(int64_t low_ms, int64_t high_ms);
  bool strikes(Fault fault);

  // Fixed.
  Cluster& cluster_;
  const Options& options_;
  const bool scripted_;
  // State.
  Rng rng_;
  bool trouble_ = true;
  std::map<std::string, Body> bodies_;  // by uid
  std::vector<std::string> lost_nodes_;
  NodeNews node_news_;
};

}  // namespace trainyard::sim
