// Tables: a Cluster turned into numbers, fixed while a pass lasts: nodes ranked by name (so
// that the order of the input never shows), requests by resource, topology domains, and which
// pod terms match which class. Kept while the cluster only gains classes (follow()); not thread-safe.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sched/cluster.h"

namespace trainyard::sched {

// The domains of one node label, named in sorted order.
struct Domains {
  std::vector<std::string> names;
  std::vector<int> of_node;  // by rank; -1 where the label is missing
};

struct Need {
  int resource = 0;
  int64_t amount = 0;
};

class Tables {
 public:
  explicit Tables(const Cluster& cluster);

  // Reads the classes that the cluster has gained. False: with them more has changed than their rows.
  bool follow();

  const Cluster& cluster() const { return cluster_; }
  int nodes() const { return static_cast<int>(by_rank_.size()); }
  int resources() const { return static_cast<int>(cluster_.resources.size()); }
  const Node& node(int rank) const {
    return cluster_.nodes[static_cast<size_t>(by_rank_[static_cast<size_t>(rank)])];
  }
  int rank_of(int node) const { return node < 0 ? -1 : rank_of_[static_cast<size_t>(node)]; }
  const PodClass& pod_class(int c) const { return cluster_.classes[static_cast<size_t>(c)]; }
  // What the class asks for, without the zeros.
  const std::vector<Need>& needs(int c) const { return needs_[static_cast<size_t>(c)]; }
  // The sum of what ready nodes offer.
  const Amounts& total() const { return total_; }

  int find_queue(const std::string& name) const;  // -1 when there is none
  const Domains& domains(const std::string& key) const;
  const Domains& domains_of_term(int term) const { return *term_domains_[static_cast<size_t>(term)]; }
  bool matches(int term, int c) const { return matches_[static_cast<size_t>(term)][static_cast<size_t>(c)]; }
  // The terms that some class wants to be apart by.
  const std::vector<int>& apart_terms() const { return apart_terms_; }
  // Whether where it may go depends on what is beside it, or on volumes that others take.
  bool looks_around(int c) const { return looks_around_[static_cast<size_t>(c)]; }

 private:
  void rank_nodes();
  void read_class(const PodClass& pod);
  void read_terms();
  bool looks_around_at(size_t c) const;

  const Cluster& cluster_;
  std::vector<int> by_rank_;
  std::vector<int> rank_of_;
  std::vector<std::vector<Need>> needs_;
  Amounts total_;
  std::map<std::string, int, std::less<>> queues_;
  mutable std::map<std::string, Domains> domains_;  // read when asked for; addresses stay
  std::vector<const Domains*> term_domains_;
  std::vector<std::vector<bool>> matches_;
  std::vector<int> apart_terms_;
  std::vector<bool> looks_around_;
};

}  // namespace trainyard::sched
