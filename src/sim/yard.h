// Yard: the cluster of a crowded world as its administrators keep it: nodes with little room,
// queues and a PriorityClass. Nodes are lost and come back, are cordoned and emptied; queues are
// closed and opened, and may hold less for a while. In peace everything is in order again; later the yard
// grows, so that in the end there is room for everybody.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sim/cluster.h"
#include "sim/options.h"
#include "sim/trace.h"

namespace trainyard::sim {

class Yard {
 public:
  struct Ports {
    Cluster& cluster;
    Trace& trace;
    // Asks every pod on the node to go elsewhere.
    std::function<void(const std::string& node)> empty_node;
  };
  // `cpus`: of the nodes of a scripted yard, where nothing happens by chance; none: they are drawn.
  Yard(Ports ports, const Options& options, std::vector<int> cpus);
  Yard(const Yard&) = delete;
  Yard& operator=(const Yard&) = delete;

  // Makes everything, and puts what will go wrong on the agenda.
  void start();
  void settle();
  // More nodes, each large enough for all.
  void grow(int nodes);
  // The kubelet's word: from now on there is no such node; or there is again.
  void node_lost(const std::string& node);
  void node_back(const std::string& node);
  void cordon(const std::string& node, bool on);

 private:
  void make_node(const std::string& name, int cpus);
  void make_queues();
  void trouble();
  void set_queue(const std::string& queue, std::string_view state);
  // How many cpus its pods may have; none: as many as there are.
  void limit_queue(const std::string& queue, std::optional<int> cpus);
  std::string any_node();
  void say(std::string_view what) { ports_.trace.say(ports_.cluster.now(), "yard", what); }

  // Fixed.
  Ports ports_;
  const Options& options_;
  const bool scripted_;
  // State.
  Rng rng_;
  std::vector<int> cpus_;  // by node
  bool trouble_ = true;
};

}  // namespace trainyard::sim
