// Gang: pods that start together or not at all, with all the scheduler knows of them. Pure
// values. A pod that belongs to no group is a gang of one. Running gangs are gangs too: they
// are what holds the nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "sched/amounts.h"

namespace trainyard::sched {

enum class MemberState {
  kWaiting,    // wants a node
  kGated,      // will want one, when its gates are lifted
  kHeldBack,   // wants one, but a claim that it mounts has no volume
  kPlaced,     // has a node
  kLeaving,    // still on its node, being deleted
  kSucceeded,  // done: holds nothing, counts as there
  kFailed,     // holds nothing, counts as missing
};

struct Member {
  std::string uid;
  std::string name;
  int role = 0;  // into Gang::roles
  int pod_class = 0;
  MemberState state = MemberState::kWaiting;
  int node = -1;         // kPlaced and kLeaving: into Cluster::nodes; -1 a node that is no longer there
  bool evicted = false;  // kLeaving: because this scheduler made it go
  bool operator==(const Member&) const = default;
};

enum class Arrangement { kPack, kSpread };

struct Role {
  std::string name;
  int min = 0;
  Arrangement arrangement = Arrangement::kPack;
  bool operator==(const Role&) const = default;
};

struct Gang {
  std::string id;  // unique; what decisions speak of
  std::string ns;
  std::string name;
  std::string queue;
  int min_member = 1;
  std::vector<Role> roles;      // at least one
  std::vector<Member> members;  // in the order in which they are placed
  Amounts min_resources;        // what it said it needs, before it has pods

  int64_t class_priority = 0;  // the value of its PriorityClass
  int job_priority = 0;        // 0 to 100
  bool may_preempt = true;
  bool preemptible = true;

  Time queued_at;
  std::optional<Duration> schedule_timeout;
  std::optional<Duration> runs_at_most;  // a deadline its pods carry
  std::optional<Time> ends_at;           // the same for one that runs
  std::string domain_key;                // all members in one domain of this node label; "" anywhere
  bool domain_required = false;
  bool group_exists = true;            // false: its pods name a PodGroup that is not there (yet)
  std::string lacks_claim{};           // why members are held back: "claim x does not exist"
  bool asks_admission = false;         // its pods are only made once it is let in
  bool whole_once = false;             // was complete before
  std::optional<Time> broken_since{};  // since when a gang that was complete is not

  bool operator==(const Gang&) const = default;
};

}  // namespace trainyard::sched
