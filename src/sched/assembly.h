// Assembly: builds the Cluster of a snapshot: tables of resources, classes, terms, nodes and
// queues, and what the names in documents mean in them. For gangs_from.cc and kept_snapshot.cc. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sched/gangs_from.h"

namespace trainyard::sched {

class Assembly {
 public:
  // All but the documents have to outlive it. `volumes`: null as in Documents.
  Assembly(Cluster& cluster, const Documents& documents, const VolumesFound* volumes, const Shapes& shapes,
           const FrontOptions& options);

  const Shapes& shapes() const { return shapes_; }
  // Whether every resource that these pods and groups ask for has a number, and every label that their terms
  // ask for is heeded; if not, all is made anew.
  bool knows(const Documents& part) const;
  int class_of(const PodSeen& pod);
  int node_index(const std::string& name) const;  // -1 when there is no such node
  Amounts amounts(const kube::Resources& quantities) const;
  Amounts capacity_of(const kube::Queue& queue) const;
  // The name in Cluster::queues of the queue that a group of that API group means.
  std::string queue_name(std::string_view group, const std::string& queue) const;
  const PriorityClass* priority_class(const std::string& name) const;  // null when there is none
  const PriorityClass* default_priority_class() const;
  // A pod of another scheduler, if it holds a place here.
  bool add_other(const PodSeen& pod);

 private:
  void name_resources(const Documents& documents);
  void heed_labels(const Documents& documents);
  void read_nodes(std::vector<const NodeSeen*> nodes);
  void read_queues(const Documents& documents);
  void add_queue(const kube::Queue& queue, const std::string& name, const Documents& documents);
  void add_claims(const Shape& shape, PodClass& pod, NodeRule& rule);
  int claim_of(const std::string& key, const OpenClaim& open);
  int source_of(int found);
  int term_of(const PodTerm& term);
  int rule_of(NodeRule rule);
  int resource_index(const std::string& name) const;

  Cluster& cluster_;
  const VolumesFound* volumes_;
  const Shapes& shapes_;
  const FrontOptions& options_;
  std::map<std::string, int> resource_of_;
  std::map<std::string, int> node_of_;
  std::set<std::string, std::less<>> heeded_;    // the labels that terms ask for; classes have no others
  std::map<std::pair<int, int>, int> class_of_;  // by shape and, where labels are heeded, by those
  std::multimap<uint64_t, int> classes_;         // by class_print()
  std::map<std::string, int> claim_of_;
  std::map<int, int> source_of_;                   // by place in VolumesFound
  std::map<std::string, std::string> t9k_queues_;  // name -> name in the cluster
  std::vector<PriorityClass> priority_classes_;
};

bool is_ours(const PodSeen& pod, const FrontOptions& options);

// Adds the gangs of these pods and groups to the snapshot, whose cluster the assembly is of (gangs_from.cc).
// REQUIRES: of each family all or nothing.
void add_gangs(const Documents& documents, const FrontOptions& options, Assembly& assembly, Snapshot& out);

}  // namespace trainyard::sched
