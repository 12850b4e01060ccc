// Needs: what a gang still lacks to be whole, and which of its members can fill it. Pure.
#pragma once

#include <vector>

#include "sched/gang.h"

namespace trainyard::sched {

struct Needs {
  int total = 0;             // members to be placed at once
  std::vector<int> by_role;  // at least so many of each role among them
  std::vector<int> waiting;  // members that want a node, in order
  int held = 0;              // members that have one
  int succeeded = 0;         // members that are done
  int leaving = 0;           // members on their way out
  bool evicting = false;     // some of them because we made them go
  int held_back = 0;         // members that lack a claim
  int absent = 0;            // needed members that do not exist, are gated or held back
  std::vector<int> absent_by_role;

  bool whole() const { return total == 0; }
  // A part of it runs or has done what it should: a queue that is closed lets it be finished.
  bool begun() const { return held + succeeded > 0; }
  // Holds nodes but is not whole: lost a member, or was bound in part.
  bool broken() const { return total > 0 && held > 0; }
  // Nothing of it is asked for or about to change: its members that are there hold what they have.
  bool settled() const { return whole() && waiting.empty() && leaving == 0 && held_back == 0; }
  bool operator==(const Needs&) const = default;
};

Needs needs_of(const Gang& gang);

}  // namespace trainyard::sched
