// Fit: which nodes a pod may be on whatever is free there, and how much each is liked. Pure.
// What is free, ports and neighbours are the State's to say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sched/tables.h"

namespace trainyard::sched {

enum class Unfit { kNotReady, kCordoned, kSelector, kTaint, kVolume, kQueueNodes };

// Why the node is out of the question; nullopt when it is not. `queue` may be null.
std::optional<Unfit> unfit(const NodeRule& rule, const Queue* queue, const Node& node);
// The same of nodes that the pod, its volumes and its queue ask for: only their state keeps it out.
std::optional<Unfit> kept_out(const NodeRule& rule, const Queue* queue, const Node& node);

// How well the node suits, more is better: preferred affinity, then few taints that say
// "rather not", then no scarce resource that the pod would leave idle.
struct Liking {
  int64_t wished = 0;
  int shunned = 0;
  int wasted = 0;
  bool operator==(const Liking&) const = default;
};
Liking liking(const NodeRule& rule, const Amounts& requests, const Node& node);
bool likes_more(const Liking& a, const Liking& b);

// In words: "not zone=a", "with taint gpu=true:NoSchedule, which it does not tolerate".
// REQUIRES: it is why the node is out of the question.
std::string unfit_text(Unfit reason, const NodeRule& rule, const Queue* queue, const Node& node);

// "zone=a" and the like, for "on nodes zone=a", "that reach its volumes"; "" when any node is allowed.
std::string wanted_nodes_text(const NodeRule& rule, const Queue* queue);

}  // namespace trainyard::sched
