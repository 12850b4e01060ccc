#include "cli/verbs_wait.h"

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/verbs_find.h"
#include "cli/verbs_follow.h"
#include "kube/meta.h"

namespace trainyard::cli {
namespace {

std::string_view word_of(Goal goal) {
  switch (goal) {
    case Goal::kSucceeded:
      return "succeeded";
    case Goal::kFailed:
      return "failed";
    case Goal::kFinished:
      return "finished";
    case Goal::kRunning:
      return "running";
    case Goal::kPaused:
      return "paused";
  }
  return "";
}

std::string state_text(const JobStatus& status) {
  return status.why.empty() ? status.word : fmt::format("{} ({})", status.word, status.why);
}

}  // namespace

std::optional<bool> reached(Goal goal, Standing standing) {
  bool succeeded = standing == Standing::kSucceeded;
  bool failed = standing == Standing::kFailed;
  bool there = false;
  switch (goal) {
    case Goal::kSucceeded:
      there = succeeded;
      break;
    case Goal::kFailed:
      there = failed;
      break;
    case Goal::kFinished:
      there = succeeded || failed;
      break;
    case Goal::kRunning:
      there = standing == Standing::kRunning || succeeded;  // what has succeeded has run
      break;
    case Goal::kPaused:
      there = standing == Standing::kPaused;
      break;
  }
  if (there) return true;
  if (succeeded || failed) return false;
  return std::nullopt;
}

int wait_for_job(const WaitForJob& verb, const Cluster& cluster, const Console& console) {
  Result<FoundJob> job = find_job(cluster, verb.job);
  if (!job.ok()) {
    console.err << job.error().message << "\n";
    return kInputAtFault;
  }
  std::optional<Time> until;
  if (verb.timeout) until = cluster.clock() + *verb.timeout;
  Follow follow(cluster, {stream_of_jobs(*job->dialect, job->ns())});
  while (true) {
    Result<bool> changed = follow.next(until);
    if (!changed.ok()) {
      console.err << changed.error().message << "\n";
      return kInputAtFault;
    }
    client::Object now = follow.cache(0).find(job->ns(), job->name());
    if (now == nullptr || kube::uid_of(*now) != kube::uid_of(*job->object)) {
      console.err << fmt::format("{} was deleted\n", job->title());
      return kInputAtFault;
    }
    JobStatus status = status_of(*job->dialect, *now);
    std::optional<bool> answer = reached(verb.goal, status.standing);
    if (answer) {
      (*answer ? console.out : console.err) << fmt::format("{} is {}\n", job->title(), state_text(status));
      return *answer ? kFine : kInputAtFault;
    }
    if (!*changed) {
      console.err << fmt::format("{} is not {} after {}: it is {}\n", job->title(), word_of(verb.goal),
                                 format_duration(*verb.timeout), state_text(status));
      return kOutOfTime;
    }
  }
}

}  // namespace trainyard::cli
