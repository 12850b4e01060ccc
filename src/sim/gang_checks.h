// GangChecks: what must be true of gangs in a crowded world whatever happens to them: invariants
// 7 to 10, 12 and 16 of the reliability notes. They watch the stored history with eyes of their own
// and know nothing of how pods are placed.
//
//   7   room            no node holds more than it has
//       bind-once       a pod's node never changes
//       node-is-there   nobody is bound to a node that is gone or cordoned
//       closed-queue    nobody is let in, or started, in a queue that is closed; what has begun is finished
//       queue-capacity  nobody is started in a queue that then holds more than it may
//       whole-or-none   when the scheduler has done what it decided, whoever got a node has enough
//   8   hold-and-wait   no gang goes on holding part of what it needs
//   9   right-to-evict  a whole gang goes only for another that comes before it
//       evicted-for-use ... and that then fits
//       evicted-whole   ... and no member of it stays, whoever it is that decides next
//   12  fence           of two schedulers who does not hold the lease does not even ask for a change
//   10  host-ports      no two pods of a node have the same port of it
//   16  could-start     no gang waits long for room that is there, or that it may take, and that is
//                       not kept for one that has lost a member; of gangs that want ports of nodes
//                       nothing is said
//
// What a scheduler decides is judged when it had seen everything (pass_begins): nobody can know
// what has not been told. What lasts is judged always. A binding that was asked for in time and lands
// when another has the lease may overfill a node, as nothing of it names what was free; whoever has seen
// that must not make it worse.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sim/cluster.h"

namespace trainyard::sim {

class GangChecks {
 public:
  using Report = std::function<void(int invariant, std::string_view checker, std::string text)>;

  // `reserves`: the scheduler may keep room for one that has waited for long, so that others wait.
  GangChecks(Report report, bool reserves) : report_(std::move(report)), reserves_(reserves) {}
  GangChecks(const GangChecks&) = delete;
  GangChecks& operator=(const GangChecks&) = delete;

  // A listener of the cluster.
  void on_change(const Change& change);
  // A scheduler decides, having been told everything up to this revision.
  void pass_begins(int scheduler, int64_t seen);
  // One of two asks for a change.
  void asks(int scheduler, const kube::Request& request) const;
  // It asks for the deletion of this pod.
  void evicts(int scheduler, const std::string& uid);
  // It has done what it decided, if it did (`decided`); `clean`: and nothing failed on the way.
  void pass_ends(int scheduler, bool clean, bool decided);
  void scheduler_away_until(Time until) { away_until_ = until; }
  // From now on there is one, and no lease.
  void one_is_left() { lease_holder_.clear(); }
  // From now on the world is healthy.
  void settle(Time now) { healthy_since_ = now; }
  // From time to time: what may not last.
  void look(Time now);

 private:
  struct Pod {
    std::string gang;
    std::string node;
    int64_t cpu = 0;
    int64_t host_port = 0;  // of its node; 0: none
    bool ended = false;
    bool succeeded = false;
    bool leaving = false;
    bool evicted = false;  // leaving because a scheduler made it go
    bool late = false;     // bound by a scheduler that had lost the lease meanwhile

    bool holds() const { return !node.empty() && !ended; }
    bool stays() const { return holds() && !leaving; }
    bool waits() const { return node.empty() && !ended && !leaving; }
  };
  struct Group {
    int64_t min_member = 1;
    std::map<int64_t, int64_t> min_since;  // by revision
    std::string queue;
    std::string priority_class;
    std::string phase;
    bool there = false;  // false: a pod on its own
  };
  struct Node {
    int64_t cpu = 0;
    bool usable = true;
  };
  struct Queue {
    int64_t priority = 0;
    bool closed = false;
    std::optional<int64_t> cpu{};  // that its pods may have
  };
  // What there is of a gang.
  struct Tally {
    int64_t placed = 0;   // stay on nodes, or have succeeded
    int64_t staying = 0;  // stay on nodes
    int64_t waiting = 0;
    int64_t leaving = 0;
    int64_t cpu = 0;     // of one of those that wait
    bool ports = false;  // one of those that wait wants a port of its node

    void add(const Pod& pod);
  };
  using Tallies = std::map<std::string, Tally>;
  // What one scheduler does from a look at the world to the next.
  struct Turn {
    int64_t seen = 0;                      // revision
    std::set<std::string> begun_before{};  // gangs that had nodes, or pods that were done, when it began
    std::set<std::string> bound{};         // gangs of which a pod was bound
    std::set<std::string> victims{};       // gangs that were whole and have to go
  };

  void pod_changed(const Change& change);
  void bound(Pod& pod, int scheduler);
  void check_room(const Pod& pod, const Node& node, int scheduler) const;
  void check_port(const Pod& pod, int scheduler) const;
  void check_queue_holds(const std::string& queue) const;
  void group_changed(const Change& change);
  bool saw_everything(int scheduler) const;
  bool holds_lease(int scheduler) const;
  Tally tally_of(const std::string& gang) const;
  Tallies tallies() const;
  void note_whole(const std::string& gang);
  int64_t wanted_at(const std::string& gang, int64_t revision) const;
  Group group_of(const std::string& gang) const;
  bool comes_before(const Group& one, const Group& other) const;
  // How many pods of that size there is room for, when what `gone` says no longer counts.
  int64_t places(int64_t cpu, const std::function<bool(const Pod&)>& gone) const;
  void check_bound_whole(const Turn& turn, const Tallies& now);
  void check_evicted(const Turn& turn, const Tallies& now);
  void check_torn(const Tallies& now);
  bool somebody_fits(const Group& victim, const Tallies& now) const;
  void look_at_parts(const Tallies& all, Time now);
  bool places_are_kept(const Tallies& all, Time now);
  void look_at_waiting(const Tallies& all, Time now);
  void lasts(std::map<std::string, Time>& since, const std::string& gang, bool does, Time now, int invariant,
             std::string_view checker, std::string_view what);

  // Fixed.
  const Report report_;
  const bool reserves_;
  // State.
  std::map<std::string, Pod> pods_;      // by uid
  std::map<std::string, Group> groups_;  // by name: no two jobs share one
  std::map<std::string, Node> nodes_;
  std::map<std::string, Queue> queues_;
  std::map<int, Turn> turns_;          // by scheduler
  std::map<int, int64_t> changed_by_;  // revisions, by scheduler; of all others together
  std::string lease_holder_;           // "": nobody yet, or there is one scheduler
  std::set<std::string> whole_once_;   // gangs that have been complete since they last had nothing
  std::map<std::string, Time> partial_since_;
  std::set<std::string> evicting_;  // gangs of which a pod was made to leave, until all have gone
  std::map<std::string, Time> torn_since_;
  std::map<std::string, Time> fits_since_;
  std::map<std::string, Time> broken_since_;
  Time away_until_;
  std::optional<Time> healthy_since_;
};

}  // namespace trainyard::sim
