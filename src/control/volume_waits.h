// VolumeWaits: gangs that have been given nodes and whose claims get their volumes only now, with those
// nodes (classes that wait for the first consumer): volumes that somebody made are told their claim, of
// others the claim is told its node. The gang's room is held as if it were bound, until every claim of it
// is; then all of it is bound, or, when it came to nothing, none. Value; pure.
//
// It may be lost at any time: claims still name their nodes and volumes their claims, and the gang is
// placed there again.
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
  // A claim that has to be told its node, or a volume its claim.
  struct Telling {
    std::string gang;
    kube::Request request;
  };
  struct Outcome {
    std::vector<Bind> ready;            // can be bound now
    std::vector<std::string> given_up;  // uids of pods that are to be placed anew
  };

  // The gangs of these bindings that cannot be bound yet.
  std::set<std::string> delayed(const std::vector<sched::Binding>& bindings, const SchedulerView& view) const;
  // One pod of such a gang. `volumes`: by claim, those that somebody made.
  void hold(const std::string& gang, Bind bind, const std::map<std::string, std::string>& volumes,
            const SchedulerView& view, Time now);
  // The next that nobody has been told.
  std::optional<Telling> next_telling();

  Outcome look(const SchedulerView& view, Time now);
  std::vector<std::string> give_up(const std::string& gang);  // as in Outcome
  std::vector<std::string> give_up_all();

  bool has_tellings() const { return !tellings_.empty(); }
  // What was decided for the claims of gangs that are held.
  ClaimsSeen::Choices choices() const;
  // When look() has something to say though nothing changes.
  std::optional<Time> next_look() const;
  // Each pod that is held, and what it waits for.
  std::vector<std::pair<PodName, std::string>> reasons() const;

 private:
  struct HeldClaim {
    sched::ClaimChoice choice;
    bool told = false;  // whether it was seen to be so
  };
  struct Held {
    Time until;
    std::vector<Bind> places;
    std::map<std::string, HeldClaim> claims;  // by key
  };
  bool is_in_hand(const std::string& claim) const;
  void order(const std::string& gang, const sched::ClaimSeen& claim, const sched::ClaimChoice& choice,
             const SchedulerView& view);
  // Nullopt while it may still come to something; otherwise whether it did. `nodes`: those that are ready.
  std::optional<bool> ended(Held& held, const std::set<std::string>& nodes, const SchedulerView& view,
                            Time now) const;

  std::map<std::string, Held> held_;  // by gang
  std::deque<Telling> tellings_;
};

}  // namespace trainyard::control
