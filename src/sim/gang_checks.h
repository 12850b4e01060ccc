// GangChecks: what must be true of gangs whatever happens to them: invariants 7, 8, 9 and 16 of
// the reliability notes. They look at the stored history alone, with eyes of their own, and know
// nothing of how pods are placed.
//
//   7   no node holds more than it has; a pod's node never changes; a gang that has begun to get
//       nodes has enough of them, or none, before its patience ends
//   8   so no two gangs go on holding part of what both need
//   9   whoever is made to leave for another goes before nobody who stays behind it: there is a
//       gang that waits with a right to the place, and the whole gang goes
//   16  at rest no gang waits that would fit on an empty cluster
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/json.h"
#include "store/store.h"

namespace trainyard::sim {

// A gang as it was asked for.
struct GangFacts {
  std::string name;
  int members = 0;
  int64_t cpu = 0;  // of each member
  int queue_priority = 0;
  int64_t class_priority = 0;
  std::string queue;
};

struct GangViolation {
  int invariant = 0;
  std::string text;
  Time at;
};

class GangChecks {
 public:
  explicit GangChecks(const store::Store& store) : store_(store) {}

  void add_gang(const GangFacts& gang) { gangs_[gang.name] = gang; }
  void remove_gang(const std::string& name) { gangs_.erase(name); }
  // After each write of the scheduler's; `evicts`: the pod that it deleted, "" for none.
  void look(Time now, const std::string& evicts);
  // From time to time: what may not last. `patience` begins anew when the scheduler was away.
  void look_at_lasting(Time now);
  void scheduler_was_away(Time now) { away_until_ = now; }
  // Nothing is left to happen.
  void look_at_rest(Time now);

  const std::vector<GangViolation>& violations() const { return violations_; }

 private:
  struct Seen {
    std::string gang;
    std::string node;
    int64_t cpu = 0;
    bool ended = false;
    bool leaving = false;
  };
  std::map<std::string, Seen> pods() const;
  std::map<std::string, int64_t> room() const;
  void say(int invariant, std::string text, Time now);
  void check_eviction(const std::string& pod, Time now);

  const store::Store& store_;
  std::map<std::string, GangFacts> gangs_;
  std::map<std::string, std::string> node_of_;  // by pod uid, as first seen
  std::map<std::string, Time> partial_since_;   // by gang
  std::set<std::string> whole_once_;
  std::map<std::string, Time> leaving_since_;  // gangs of which a member was made to leave
  Time away_until_;
  std::vector<GangViolation> violations_;
};

}  // namespace trainyard::sim
