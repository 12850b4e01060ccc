// Checkers about jobs: their status, their finalizers, their going.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kube/access.h"
#include "sim/checkers.h"

namespace trainyard::sim {

namespace {

constexpr std::string_view kFinalizer = "trainyard.dev/pods-first";
constexpr Duration kTolerance{1'000};

int remembered(const StatusFacts& status, std::string_view key) {
  return static_cast<int>(kube::int_at(status.memory, {key}).value_or(0));
}

std::optional<Time> remembered_time(const StatusFacts& status, std::string_view key) {
  return parse_rfc3339(kube::text_at(status.memory, {key}));
}

std::string_view outcome(const StatusFacts& status) {
  if (status.succeeded) return "succeeded";
  if (status.failed) return "failed";
  return status.terminated ? "terminated" : "going on";
}

}  // namespace

void Checkers::job_changed(const Change& change, Kind kind) {
  const json::object& object = change.after ? *change.after : *change.before;
  const std::string uid(kube::uid_of(object));
  JobHistory& job = jobs_[uid];
  if (!change.after) {
    finalizers_changed(change, job);
    job_gone(change, job);
    return;
  }
  if (!change.before) {
    job.kind = kind;
    job.uid = uid;
    job.name = kube::name_of(object);
  }
  const int64_t generation = kube::generation_of(object);
  if (generation != job.generation || !change.before) {
    Wish wish = read_wish(kind, object);
    if (change.before) job.edited = true;
    if (change.before && wish.replicas != job.wish.replicas) job.scaled = true;
    if (change.before && wish.valid && !job.wish.valid) job.valid_since = change.at;
    job.wish = std::move(wish);
    job.generation = generation;
    job.spec_changed = change.revision;
    for (auto& [pod_uid, pod] : pods_) {
      if (pod.facts.job_uid == uid) note_always(job, pod);
    }
  }
  if (change.before) finalizers_changed(change, job);
  const StatusFacts before = std::exchange(job.status, read_status(kind, object));
  job.deleting = kube::is_deleting(object);
  job.orphaning = job.deleting && kube::has_finalizer(object, "orphan");
  const bool stopped = job.wish.suspended || (kind == Kind::kVolcano && job.status.stopped);
  if (stopped) job.ever_stopped = true;
  const bool wants_none = job.status.terminal() || job.deleting || stopped;
  if (!wants_none) job.no_pods_since = 0;
  if (wants_none && job.no_pods_since == 0) job.no_pods_since = change.revision;
  if (job.status.terminal() && !job.ended_at) job.ended_at = change.at;
  if (change.before) status_changed(change, job, before, job.status);
}

void Checkers::status_changed(const Change& change, JobHistory& job, const StatusFacts& before,
                              const StatusFacts& after) {
  // 4: an end is an end, and there is only one.
  if (before.terminal() && (before.succeeded != after.succeeded || before.failed != after.failed ||
                            before.terminated != after.terminated)) {
    violate(4, "terminal-is-terminal",
            fmt::format("{} had {} and is now {}", job.name, outcome(before), outcome(after)));
  }
  if (after.succeeded && after.failed)
    violate(4, "one-end", fmt::format("{} succeeded and failed", job.name));
  if (after.terminal() && after.running) {
    violate(4, "one-end", fmt::format("{} has {} and is said to run", job.name, outcome(after)));
  }
  if (clocks_are_right()) {
    for (const ConditionFacts& now : after.conditions) {
      for (const ConditionFacts& then : before.conditions) {
        if (now.type == then.type && now.changed_at && then.changed_at &&
            *now.changed_at < *then.changed_at) {
          violate(4, "condition-times",
                  fmt::format("{}: condition {} went back in time", job.name, now.type));
        }
      }
    }
  }
  // 6: what was observed is not newer than what is there, and never goes back.
  const auto observed = kube::int_at(after.memory, {"observedGeneration"}).value_or(0);
  if (observed > job.generation || observed < job.observed_generation) {
    violate(6, "observed-generation",
            fmt::format("{}: {} observed after {}, of {}", job.name, observed, job.observed_generation,
                        job.generation));
  }
  job.observed_generation = observed;
  check_counters(job, before, after);
  check_counts(change, job, before.terminal());
  if (after.failed && !before.failed) check_failure(job, after, change.at);
}

// 5: every restart that is charged had a failure, none is forgotten, none is too many.
void Checkers::check_counters(const JobHistory& job, const StatusFacts& before, const StatusFacts& after) {
  const int restarts = remembered(after, "restarts");
  if (restarts < remembered(before, "restarts")) {
    violate(5, "restarts-never-fall",
            fmt::format("{}: {} restarts after {}", job.name, restarts, remembered(before, "restarts")));
  }
  if (restarts > job.failures + job.in_place) {
    violate(5, "restarts-have-causes",
            fmt::format("{}: {} restarts charged, but {} pods failed and {} containers "
                        "were restarted in place",
                        job.name, restarts, job.failures, job.in_place));
  }
  const bool ours = job.in_place == 0 && !job.edited;
  if (ours && job.wish.backoff && job.kind != Kind::kVolcano && restarts > *job.wish.backoff) {
    violate(5, "budget", fmt::format("{}: {} restarts of {}", job.name, restarts, *job.wish.backoff));
  }
  if (job.kind == Kind::kT9k && after.shown_restarts.value_or(0) != restarts) {
    violate(5, "shown-restarts",
            fmt::format("{}: shows {} restarts, remembers {}", job.name, after.shown_restarts.value_or(0),
                        restarts));
  }
}

// 5, 17: a job fails for a reason that its history shows.
void Checkers::check_failure(const JobHistory& job, const StatusFacts& after, Time now) {
  const std::string_view cause = kube::text_at(after.memory, {"cause", "kind"});
  if (cause == "Deadline") {
    const std::optional<Time> started = remembered_time(after, "startedAt");
    if (!job.wish.deadline || !started) {
      if (!job.edited)
        violate(17, "deadline", fmt::format("{} failed at a deadline that it has not", job.name));
      return;
    }
    // (What is invalid is left alone.)
    const Time due = std::max(*started + seconds(*job.wish.deadline), job.valid_since.value_or(*started));
    if (clocks_are_right() && !job.edited && now < due - kTolerance) {
      violate(17, "deadline",
              fmt::format("{} failed {} ms before its deadline", job.name, (due - now).count()));
    }
    if (healthy_since_ && due > *healthy_since_ + seconds(130) && now > due + kTolerance + Duration{100}) {
      violate(17, "deadline",
              fmt::format("{} failed {} ms after its deadline", job.name, (now - due).count()));
    }
    return;
  }
  if (cause == "Invalid" || job.wish.has_policies || job.commanded || job.edited) return;
  if (job.failures + job.in_place + job.disruptions == 0) {
    violate(5, "failure-has-cause", fmt::format("{} failed ({}), but none of its pods had", job.name, cause));
  }
  if (cause == "BudgetSpent" && job.wish.backoff && job.kind != Kind::kVolcano &&
      job.failures + job.in_place < *job.wish.backoff) {
    violate(5, "budget-not-spent",
            fmt::format("{} failed with {} failures and {} restarts in place of {}", job.name, job.failures,
                        job.in_place, *job.wish.backoff));
  }
}

// 14: our finalizer goes once, and not before the pods.
void Checkers::finalizers_changed(const Change& change, const JobHistory& job) {
  if (!change.before || change.author.hand != Hand::kOperator) return;
  const bool had = kube::has_finalizer(*change.before, kFinalizer);
  const bool has = change.after && kube::has_finalizer(*change.after, kFinalizer);
  if (!had || has || job.orphaning) return;
  const Sight sight = sight_of(change.author.process_id);
  for (const PodHistory* pod : pods_of(job.uid)) {
    if (pod->created <= sight.pods_seen && !pod->stripped) {
      violate(14, "pods-first", fmt::format("{} is let go while {} is there", job.name, pod->facts.name));
    }
  }
}

void Checkers::job_gone(const Change& change, JobHistory& job) {
  job.gone = true;
  if (job.no_pods_since == 0) job.no_pods_since = change.revision;
  // 17: only a time to live that is over lets an operator delete a job.
  if (change.author.hand != Hand::kOperator || job.deleting) return;
  const std::optional<Time> finished = remembered_time(job.status, "finishedAt");
  if (!job.wish.ttl || !finished || !job.status.terminal()) {
    violate(17, "time-to-live", fmt::format("an operator deleted {}, which was not to go", job.name));
    return;
  }
  // (Volcano's jobs have ended only when their pods are gone.)
  const Time due = std::max({*finished + seconds(*job.wish.ttl), job.ended_at.value_or(*finished),
                             job.valid_since.value_or(*finished)});
  if (clocks_are_right() && !job.edited && change.at < due - kTolerance) {
    violate(17, "time-to-live", fmt::format("{} went {} ms too early", job.name, (due - change.at).count()));
  }
  if (healthy_since_ && due > *healthy_since_ + seconds(130) &&
      change.at > due + kTolerance + Duration{100}) {
    violate(17, "time-to-live", fmt::format("{} went {} ms too late", job.name, (change.at - due).count()));
  }
}

}  // namespace trainyard::sim
