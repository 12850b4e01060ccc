// Shapes: what pods look like to the scheduler, labels apart, read from their documents once each. Equal
// specs get the same number, until keep() lets go of those that nobody has any more. A cache that may be
// lost at any time, owned by whoever keeps snapshots. Pure otherwise.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kube/json.h"
#include "kube/objects.h"
#include "kube/pod_requests.h"
#include "sched/cluster.h"
#include "sched/label_sets.h"

namespace trainyard::sched {

// A PodClass before resources and terms have numbers.
struct Shape {
  std::map<std::string, int64_t> requests;  // amounts by resource name, "pods" included
  NodeRule rule;                            // its `allowed` is filled in by gangs_from
  std::string ns;
  std::vector<HostPort> ports;
  std::vector<PodTerm> near;
  std::vector<PodTerm> apart;
  std::vector<std::pair<int, PodTerm>> preferred;  // by weight
  std::vector<std::string> claims;                 // names of the claims it mounts
  bool spread = false;                             // asks to be spread over hosts
  bool operator==(const Shape&) const = default;
};

// What a pod asks for: as kube counts it, and one place among the pods.
kube::Requests requests_of(const json::object& pod);
Shape shape_of(const json::object& pod);

class Shapes {
 public:
  // The number of the pod's shape.
  int number(const json::object& pod);
  const Shape& at(int number) const { return shapes_[static_cast<size_t>(number)]; }
  int size() const { return static_cast<int>(shapes_.size()); }
  // Forgets all but these. The new number of each old one; -1: forgotten.
  std::vector<int> keep(const std::vector<bool>& used);
  // Kept beside them, as pods have both.
  LabelSets& labels() { return labels_; }
  const LabelSets& labels() const { return labels_; }

 private:
  std::map<std::string, int> by_text_;  // the parts of the document that matter
  std::vector<Shape> shapes_;
  LabelSets labels_;
};

}  // namespace trainyard::sched
