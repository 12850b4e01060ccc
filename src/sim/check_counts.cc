// Checkers about what a status shows of the pods: it is what was there when it was written, and,
// when the world is at rest, what is there (invariant 5).
#include <fmt/format.h>

#include "kube/access.h"
#include "sim/checkers.h"
#include "sim/shown_counts.h"

namespace trainyard::sim {

namespace {

size_t finalizers_of(const json::object& job) {
  const json::array* all = kube::array_at(job, {"metadata", "finalizers"});
  return all == nullptr ? 0 : all->size();
}

}  // namespace

// Who wrote a status had seen all pods of the job as they are: then it can be said what it must show.
// Else it is judged at rest.
void Checkers::check_counts(const Change& change, const JobHistory& job, bool had_ended) {
  if (change.author.hand != Hand::kOperator || job.deleting) return;
  // (What else it writes of a job are finalizers.)
  if (kube::find(*change.after, {"status"}) == nullptr) return;
  if (finalizers_of(*change.before) != finalizers_of(*change.after)) return;
  check_recorded(job);
  if (job.pods_changed > sight_of(change.author.process_id).pods_seen) return;
  judge_counts(job, *change.after, had_ended ? change.before.get() : nullptr);
}

// A success that is remembered was one: programs exit with 0 when they are told to stop, too.
void Checkers::check_recorded(const JobHistory& job) {
  for (const auto& [role, replicas] : job.wish.replicas) {
    for (int index = 0; index < replicas; ++index) {
      const bool succeeded = recorded_success(job.status.memory, role, index).value_or(false);
      if (!succeeded || job.ended_well.contains({role, index})) continue;
      violate(5, "recorded-successes",
              fmt::format("{} remembers that {}-{} succeeded, and it has not", job.name, role, index));
    }
  }
}

void Checkers::counts_at_rest(const JobHistory& job) {
  const store::Object object = cluster_.find(resource_of(job.kind), job.name);
  if (object == nullptr || job.deleting) return;
  judge_counts(job, *object, job.status.terminal() ? object.get() : nullptr);
}

void Checkers::judge_counts(const JobHistory& job, const json::object& object,
                            const json::object* at_the_end) {
  if (!job.wish.valid) return;  // told that it is; its counts are those of before
  CountsInput input{job.kind, job.wish, job.status, {}};
  for (const PodHistory* pod : pods_of(job.uid)) {
    if (pod->stripped || !is_made_for(job, *pod)) return;  // what its operator can see of those is unclear
    input.pods.push_back(&pod->facts);
  }
  Counts then;
  if (at_the_end != nullptr) {
    then = read_counts(job.kind, *at_the_end);
    input.at_the_end = &then;
  }
  if (const auto wrong = wrong_count(read_counts(job.kind, object), true_counts(input))) {
    violate(5, "shown-counts", fmt::format("{} shows {}", job.name, *wrong));
  }
}

}  // namespace trainyard::sim
