// VolumeWaits: gangs that have been given nodes and whose volumes are made only now, for those nodes
// (classes that wait for the first consumer). Their room is held as if they were bound, until every
// claim of theirs is; then all of them are bound, or, when it came to nothing, none. Value; pure.
//
// It may be lost at any time: the claims still name their nodes, and the gang is placed there again.
// REQUIRES: the view has looked at claims since it last took something in.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/binder.h"
#include "control/scheduler_view.h"
#include "control/scheduler_writes.h"
#include "sched/decisions.h"

namespace trainyard::control {

class VolumeWaits {
 public:
  // A claim that has to be told its node.
  struct Select {
    std::string gang;
    ClaimName claim;
    std::string node;
  };
  struct Outcome {
    std::vector<Bind> ready;            // can be bound now
    std::vector<std::string> given_up;  // uids of pods that are to be placed anew
  };

  // The gangs of these bindings that cannot be bound yet.
  std::set<std::string> delayed(const std::vector<sched::Binding>& bindings, const SchedulerView& view) const;
  // One pod of such a gang.
  void hold(const std::string& gang, Bind bind, const SchedulerView& view, Time now);
  // The next claim that nobody has told.
  std::optional<Select> next_select();

  Outcome look(const SchedulerView& view, Time now);
  std::vector<std::string> give_up(const std::string& gang);  // as in Outcome
  std::vector<std::string> give_up_all();

  bool has_selects() const { return !selects_.empty(); }
  // When look() has something to say though nothing changes.
  std::optional<Time> next_look() const;
  // Each pod that is held, and what it waits for.
  std::vector<std::pair<PodName, std::string>> reasons() const;

 private:
  struct Held {
    Time until;
    std::vector<Bind> places;
    std::map<std::string, bool> claims;  // by key: whether it was seen to name its node
  };
  // Nullopt while it may still come to something; otherwise whether it did.
  std::optional<bool> ended(Held& held, const SchedulerView& view, Time now) const;

  std::map<std::string, Held> held_;  // by gang
  std::deque<Select> selects_;
};

}  // namespace trainyard::control
