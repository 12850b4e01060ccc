// LabelSets: the labels of pods, each set kept once and as text: every job has one of its own, by its name,
// and most clusters have nobody who asks for any. As Shapes a cache that may be lost at any time. Pure
// otherwise.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/json.h"
#include "sched/cluster.h"

namespace trainyard::sched {

class LabelSets {
 public:
  // The number of the pod's labels, without those that tell the members of a job apart.
  int number(const json::object& pod);
  Labels at(int number) const;
  int size() const { return static_cast<int>(texts_.size()); }
  // Forgets all but these. The new number of each old one; -1: forgotten.
  std::vector<int> keep(const std::vector<bool>& used);

 private:
  std::map<std::string, int, std::less<>> by_text_;
  std::vector<const std::string*> texts_;  // the keys of by_text_, which stay where they are
};

}  // namespace trainyard::sched
