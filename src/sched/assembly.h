// Assembly: builds the Cluster of a snapshot: tables of resources, classes, terms, nodes and
// queues, and what the names in documents mean in them. For gangs_from.cc. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sched/gangs_from.h"

namespace trainyard::sched {

class Assembly {
 public:
  Assembly(const Documents& documents, const Shapes& shapes, const FrontOptions& options);

  const Shapes& shapes() const { return shapes_; }
  int class_of(int shape);
  int node_index(const std::string& name) const;  // -1 when there is no such node
  Amounts amounts(const kube::Resources& quantities) const;
  // The name in Cluster::queues of the queue that a group of that API group means.
  std::string queue_name(std::string_view group, const std::string& queue) const;
  const PriorityClass* priority_class(const std::string& name) const;  // null when there is none
  const PriorityClass* default_priority_class() const;
  void add_other(const PodSeen& pod);

  Cluster take() && { return std::move(cluster_); }

 private:
  void name_resources();
  void read_nodes();
  void read_queues();
  void add_queue(const kube::Queue& queue, const std::string& name);
  void add_claims(const Shape& shape, PodClass& pod, NodeRule& rule);
  int claim_of(const std::string& key, const OpenClaim& open);
  int source_of(int found);
  int term_of(const PodTerm& term);
  int rule_of(NodeRule rule);
  int resource_index(const std::string& name) const;

  const Documents& documents_;
  const Shapes& shapes_;
  const FrontOptions& options_;
  Cluster cluster_;
  std::map<std::string, int> resource_of_;
  std::map<std::string, int> node_of_;
  std::vector<int> class_of_;  // by shape; -1 not needed yet
  std::map<std::string, int> claim_of_;
  std::map<int, int> source_of_;                   // by place in VolumesFound
  std::map<std::string, std::string> t9k_queues_;  // name -> name in the cluster
  std::vector<PriorityClass> priority_classes_;
};

}  // namespace trainyard::sched
