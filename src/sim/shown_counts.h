// Shown counts: how many replicas of a job its status says are in which state, and how many
// it may say, given the pods that are there and the outcomes that the status remembers. With
// eyes of their own, as facts.h. Pure.
//
//   TFJob    replicaStatuses: a replica counts by its outcome, else by its pod of the present
//            attempt; one that was asked to stop counts for nothing; after the end nothing
//            changes but that what runs no more is not active
//   T9k      tasks: a replica counts by its pod, whatever its attempt; without one it is being
//            created, or, when none will come, was deleted; aggregate: the same, all roles together
//   Volcano  taskStatusCount: pods of use by their phase, and replicas without a pod by their
//            outcome; the fields of the status: the same, all tasks together; terminating: the rest
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/facts.h"

namespace trainyard::sim {

// By "role/word", of all roles together by "/word"; words in lower case; zeros are left out.
using Counts = std::map<std::string, int>;
Counts read_counts(Kind kind, const json::object& job);

struct CountRange {
  int least = 0;
  int most = 0;
};
using CountRanges = std::map<std::string, CountRange>;

struct CountsInput {
  Kind kind = Kind::kTfJob;
  const Wish& wish;
  const StatusFacts& status;           // with what it remembers
  std::vector<const PodFacts*> pods;   // of the job
  const Counts* at_the_end = nullptr;  // what was shown when the job had ended already
};
// What may be shown; of what is not named here nothing.
CountRanges true_counts(const CountsInput& input);

// What is shown and may not be, in words.
std::optional<std::string> wrong_count(const Counts& shown, const CountRanges& allowed);

}  // namespace trainyard::sim
