// Checkers about pods and services, at the revision that makes or changes them.
#include <fmt/format.h>

#include <set>

#include "kube/access.h"
#include "sim/checkers.h"

namespace trainyard::sim {

void Checkers::pod_changed(const Change& change) {
  if (!change.after) {
    auto found = pods_.find(std::string(kube::uid_of(*change.before)));
    if (found == pods_.end()) return;
    if (JobHistory* job = job_of(found->second.facts.job_uid)) {
      job->pods_changed = change.revision;
      auto success = job->successes.find({found->second.facts.role, found->second.facts.index});
      if (success != job->successes.end() && success->second.removed == 0)
        success->second.removed = change.revision;
    }
    pods_.erase(found);
    return;
  }
  PodFacts facts = read_pod(*change.after);
  PodHistory& pod = pods_[facts.uid];
  const PodFacts before = pod.facts;
  const std::string owner = change.before ? before.job_uid : facts.job_uid;
  for (const std::string& concerned : {owner, facts.job_uid}) {
    if (JobHistory* job = job_of(concerned)) job->pods_changed = change.revision;
  }
  const bool labelled = kube::object_at(*change.after, {"metadata", "labels"}) != nullptr;
  const bool hidden = facts.job_uid != owner || !labelled;
  if (change.before && change.author.hand == Hand::kUser && hidden && !facts.deleting) {
    pod.stripped = true;
    // From now on nobody can know whose success it was.
    if (JobHistory* job = job_of(owner)) job->successes.erase({facts.role, facts.index});
  }
  // The collector lets an orphan go; from then on it is nobody's, or whose controller adopts it.
  if (change.before && change.author.hand == Hand::kCollector && facts.job_uid.empty()) {
    pod.stripped = true;
    if (JobHistory* job = job_of(owner)) job->successes.erase({facts.role, facts.index});
  }
  const bool taken_back = change.author.hand == Hand::kOperator && !facts.job_uid.empty() && labelled;
  if (change.before && taken_back) pod.stripped = false;
  pod.facts = std::move(facts);
  if (pod.facts.job_uid.empty() && pod.stripped) pod.facts.job_uid = owner;
  if (!change.before) {
    pod.created = change.revision;
    if (change.author.hand == Hand::kOperator) pod_created(change, pod);
    return;
  }
  // 11: what is not ours is not touched.
  if (change.author.hand == Hand::kOperator && job_of(owner) == nullptr) {
    violate(11, "foreign-objects", fmt::format("an operator wrote to the foreign pod {}", pod.facts.name));
  }
  if (JobHistory* job = job_of(pod.facts.job_uid)) note_pod_end(*job, pod, before, change.revision);
}

// Remembers what a pod's life gives an operator the right to say later.
void Checkers::note_pod_end(JobHistory& job, PodHistory& pod, const PodFacts& before, int64_t revision) {
  const PodFacts& facts = pod.facts;
  if (facts.ended() && !before.ended()) pod.ended_freely = !facts.deleting;
  if (facts.phase == PodPhase::kSucceeded && pod.ended_freely) {
    job.ended_well.insert({facts.role, facts.index});
  }
  job.in_place += std::max(0, facts.restarts - before.restarts);
  if (facts.disrupted && !before.disrupted) ++job.disruptions;
  if (facts.phase == PodPhase::kSucceeded && before.phase != PodPhase::kSucceeded && !facts.deleting) {
    Success& success = job.successes[{facts.role, facts.index}];
    if (success.revision == 0 || facts.attempt >= success.attempt) {
      success = {facts.attempt, revision, 0, pod.stripped};
    }
  }
  note_always(job, pod);
  if (facts.phase == PodPhase::kFailed && before.phase != PodPhase::kFailed) {
    pod.failed_itself = !facts.disrupted && !facts.deleting;
    if (!facts.disrupted) ++job.failures;
  }
}

// Policy Always starts again what ended well, and charges it; also what had ended before it was the policy.
void Checkers::note_always(JobHistory& job, PodHistory& pod) {
  if (job.wish.restart != "Always" || pod.facts.phase != PodPhase::kSucceeded) return;
  job.failures += !std::exchange(pod.always_again, true);
}

void Checkers::pod_created(const Change& change, const PodHistory& pod) {
  const PodFacts& facts = pod.facts;
  JobHistory* job = job_of(facts.job_uid);
  const Sight sight = sight_of(change.author.process_id);
  if (job == nullptr) {
    violate(2, "no-pod-without-job", fmt::format("{} has no job with uid {}", facts.name, facts.job_uid));
    return;
  }
  // 2: nothing is made for a job that has ended, is stopped, or is going.
  if (job->no_pods_since != 0 && job->no_pods_since <= sight.revision) {
    violate(2, "no-pod-after-end",
            fmt::format("{} was made although {} has not wanted pods since revision {}", facts.name,
                        job->name, job->no_pods_since));
  }
  // 1: the name says who it is; never more than was asked for, never two of one.
  if (!is_made_for(*job, pod)) {
    violate(1, "pod-name", fmt::format("{} is not named after {}", facts.name, job->name));
  }
  auto wanted = job->wish.replicas.find(facts.role);
  if (job->spec_changed <= sight.revision &&
      (wanted == job->wish.replicas.end() || facts.index < 0 || facts.index >= wanted->second)) {
    violate(1, "never-more-than-desired", fmt::format("{} was not asked for", facts.name));
  }
  for (const PodHistory* other : pods_of(facts.job_uid)) {
    if (other->facts.uid != facts.uid && other->facts.role == facts.role &&
        other->facts.index == facts.index && !other->facts.ended() && !other->stripped &&
        is_made_for(*job, *other)) {
      violate(1, "one-pod-per-replica",
              fmt::format("{} and {} are the same replica", facts.name, other->facts.name));
    }
  }
  // 3: what succeeded is not run again, except as part of a new attempt.
  auto success = job->successes.find({facts.role, facts.index});
  if (success != job->successes.end() && !success->second.stripped &&
      facts.attempt <= success->second.attempt && job->wish.restart != "Always" && !job->scaled) {
    const Success& known = success->second;
    const bool shown =
        known.revision <= sight.pods_seen && (known.removed == 0 || known.removed > sight.pods_listed);
    if (shown) {
      violate(3, "succeeded-stays",
              fmt::format("{} was made again in attempt {} though it had succeeded in {}", facts.name,
                          facts.attempt, known.attempt));
    }
  }
  check_old_pods(*job, pod);
  check_gang_gate(pod);
  check_tf_config(*job, pods_[facts.uid], change);
}

// Restarting a role or the whole job: nothing new before everything old is gone.
void Checkers::check_old_pods(const JobHistory& job, const PodHistory& pod) {
  if (job.wish.scope != "role" && job.wish.scope != "job") return;
  // (What policy Always starts again ended well: that is no restart of the others.)
  if (job.edited || job.wish.restart == "Always" || options_.faults.has(Fault::kRival)) return;
  for (const PodHistory* other : pods_of(pod.facts.job_uid)) {
    const bool in_scope = job.wish.scope == "job" || other->facts.role == pod.facts.role;
    if (!in_scope || other->stripped || !is_made_for(job, *other) ||
        other->facts.attempt >= pod.facts.attempt)
      continue;
    if (other->facts.ended() && !other->facts.deleting) continue;
    violate(1, "old-attempt-first",
            fmt::format("{} of attempt {} was made while {} of attempt {} was there", pod.facts.name,
                        pod.facts.attempt, other->facts.name, other->facts.attempt));
  }
}

// 7: Volcano's jobs have no pods before their PodGroup is let in.
void Checkers::check_gang_gate(const PodHistory& pod) {
  const JobHistory* job = job_of(pod.facts.job_uid);
  if (job == nullptr || job->kind != Kind::kVolcano) return;
  if (job->no_pods_since != 0) return;  // stopped while the pass was under way: its PodGroup may be gone
  const store::Object group =
      pod.facts.gang.empty() ? nullptr : cluster_.find(kube::kVolcanoPodGroups, pod.facts.gang);
  if (group == nullptr) {
    violate(7, "gang-gate", fmt::format("{} was made without a PodGroup", pod.facts.name));
    return;
  }
  // (One that was let in and lost everything may wait anew without the operator's knowing yet.)
  if (!let_in_.contains(std::string(kube::uid_of(*group)))) {
    violate(7, "gang-gate",
            fmt::format("{} was made while its PodGroup {} was pending", pod.facts.name, pod.facts.gang));
  }
}

// 10: one cluster map for all replicas, made of those that are asked for, each at its place. It changes
// when somebody asks for others, and not else.
void Checkers::check_tf_config(const JobHistory& job, PodHistory& pod, const Change& change) {
  const std::optional<TfConfig> config = read_tf_config(*change.after);
  if (!config) return;
  const auto wrong = [&](std::string_view what) {
    violate(10, "tf-config", fmt::format("{} {}: {}", pod.facts.name, what, config->cluster));
  };
  if (config->task_index != pod.facts.index) wrong(fmt::format("has task index {}", config->task_index));
  if (config->task_type != pod.facts.role) wrong(fmt::format("has task type {}", config->task_type));
  std::set<std::string_view> taken;
  for (const auto& [role, addresses] : config->addresses) {
    for (const std::string& address : addresses) {
      if (!taken.insert(address).second) wrong("is told of two replicas at one address");
    }
  }
  // Who was asked for when this was made is not known of a pass that began before the last edit.
  if (job.spec_changed > sight_of(change.author.process_id).revision) return;
  pod.cluster = config->cluster;
  pod.job_generation = job.generation;
  if (job.wish.dynamic) return;
  for (const auto& [role, replicas] : job.wish.replicas) {
    auto told = config->addresses.find(role);
    if (told == config->addresses.end()) {
      if (role != "evaluator" && replicas > 0) wrong("is not told of all roles");
    } else if (static_cast<int>(told->second.size()) != replicas) {
      wrong(fmt::format("is told of {} {} where {} are asked for", told->second.size(), role, replicas));
    } else if (role == pod.facts.role && pod.facts.index < replicas &&
               !told->second[static_cast<size_t>(pod.facts.index)].starts_with(pod.facts.name + ".")) {
      wrong("does not find itself");
    }
  }
  for (const PodHistory* other : pods_of(pod.facts.job_uid)) {
    const bool comparable = other->job_generation == pod.job_generation && is_made_for(job, *other);
    if (comparable && other->cluster != pod.cluster) {
      wrong(fmt::format("and {} disagree ({})", other->facts.name, other->cluster));
    }
  }
}

void Checkers::service_created(const Change& change) {
  if (change.author.hand != Hand::kOperator) return;
  const std::string owner(kube::controller_uid_of(*change.after));
  JobHistory* job = job_of(owner);
  if (job == nullptr) {
    violate(2, "no-service-without-job", fmt::format("{} has no job", kube::name_of(*change.after)));
    return;
  }
  if (job->no_pods_since != 0 && job->no_pods_since <= sight_of(change.author.process_id).revision &&
      (job->gone || job->deleting || job->status.terminal())) {
    violate(2, "no-service-after-end",
            fmt::format("{} was made although {} had ended", kube::name_of(*change.after), job->name));
  }
}

}  // namespace trainyard::sim
