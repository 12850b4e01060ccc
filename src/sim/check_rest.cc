// Checkers about the end: when the trouble is over and everything has come to rest, the
// world must be what its manifests ask for (invariants 5, 14, 15, 16, 17, 18).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kube/access.h"
#include "sim/checkers.h"

namespace trainyard::sim {

void Checkers::at_rest() {
  now_ = cluster_.now();
  for (const auto& [uid, job] : jobs_) {
    if (job.gone) continue;
    job_at_rest(job);
    counts_at_rest(job);
  }
  // 14: nothing is left of a job that is gone.
  for (const auto& [resource, object] : cluster_.store().everything()) {
    const std::string owner(kube::controller_uid_of(*object));
    if (owner.empty()) continue;
    const JobHistory* job = job_of(owner);
    if (job != nullptr && job->gone) {
      violate(14, "no-leaks",
              fmt::format("{} {} outlives {}", resource.plural, kube::name_of(*object), job->name));
    }
  }
}

void Checkers::job_at_rest(const JobHistory& job) {
  if (job.deleting) {
    violate(15, "deletion-ends", fmt::format("{} is still being deleted", job.name));
    return;
  }
  const bool told = is_told_invalid(job);
  if (!job.wish.valid) {
    if (!told && !job.status.terminal())
      violate(18, "invalid-is-told", fmt::format("nobody is told that {} is invalid", job.name));
    return;
  }
  if (told && job.kind != Kind::kTfJob) {
    violate(18, "valid-is-told", fmt::format("{} is said to be invalid, and is not", job.name));
  }
  std::vector<const PodHistory*> pods = pods_of(job.uid);
  const bool others =
      std::any_of(pods.begin(), pods.end(), [&](const PodHistory* pod) { return !is_made_for(job, *pod); });
  std::erase_if(pods, [](const PodHistory* pod) { return pod->stripped; });
  if (job.status.terminal()) return ended_job_at_rest(job, pods);
  if (job.wish.suspended || job.status.stopped) {
    if (job.wish.suspended && !job.status.stopped) {
      violate(15, "stop-is-shown", fmt::format("{} is stopped and does not say so", job.name));
    }
    if (!job.wish.suspended && job.kind != Kind::kVolcano) {
      violate(15, "resume-is-shown", fmt::format("{} goes on and is said to be stopped", job.name));
    }
    for (const PodHistory* pod : pods) {
      if (!pod->facts.ended()) {
        violate(15, "stop-stops", fmt::format("{} is stopped and {} is there", job.name, pod->facts.name));
      }
    }
    return;
  }
  if (others) violate(15, "nothing-extra", fmt::format("{} keeps a pod of another job", job.name));
  gangs_at_rest(job);
  companions_at_rest(job);
  running_job_at_rest(job, pods);
  services_at_rest(job);
}

void Checkers::ended_job_at_rest(const JobHistory& job, const std::vector<const PodHistory*>& pods) {
  const bool all = job.wish.clean == "All";
  const bool none = job.wish.clean == "None" || (job.kind == Kind::kT9k && job.wish.clean.empty());
  for (const PodHistory* pod : pods) {
    if (all || (!none && !pod->facts.ended())) {
      violate(15, "cleanup", fmt::format("{} has ended and {} is there", job.name, pod->facts.name));
    }
  }
  const std::optional<Time> finished = parse_rfc3339(kube::text_at(job.status.memory, {"finishedAt"}));
  if (job.wish.ttl && finished && now_ > *finished + seconds(*job.wish.ttl) + seconds(2)) {
    violate(17, "time-to-live",
            fmt::format("{} should have gone {} ago", job.name,
                        format_duration(now_ - (*finished + seconds(*job.wish.ttl)))));
  }
}

// 16: who could start has started.
void Checkers::gangs_at_rest(const JobHistory& job) {
  int64_t total = 0;
  for (const auto& [role, replicas] : job.wish.replicas) total += replicas;
  for (const kube::Resource* resource : {&kube::kVolcanoPodGroups, &kube::kT9kPodGroups}) {
    auto groups = cluster_.store().list(*resource, "");
    if (!groups.ok()) continue;
    for (const store::Object& group : groups.value().items) {
      if (kube::controller_uid_of(*group) != job.uid) continue;
      if (kube::int_at(*group, {"spec", "minMember"}).value_or(0) > total) {
        violate(16, "gang-size",
                fmt::format("{} waits for more pods than {} makes", kube::name_of(*group), job.name));
      }
      const std::string_view phase = kube::text_at(*group, {"status", "phase"});
      if (resource == &kube::kVolcanoPodGroups && (phase.empty() || phase == "Pending")) {
        violate(16, "gang-starts", fmt::format("{} of {} was never let in", kube::name_of(*group), job.name));
      }
    }
  }
}

// A replica is found by the name of its service.
void Checkers::services_at_rest(const JobHistory& job) {
  if (job.kind == Kind::kVolcano) return;
  std::set<std::string> missing;
  for (const auto& [role, replicas] : job.wish.replicas) {
    for (int index = 0; index < replicas; ++index) missing.insert(fmt::format("-{}-{}", role, index));
  }
  auto services = cluster_.store().list(kube::kServices, "");
  if (!services.ok()) return;
  for (const store::Object& service : services.value().items) {
    if (kube::controller_uid_of(*service) != job.uid) continue;
    const std::string_view name = kube::name_of(*service);
    const auto found = std::find_if(missing.begin(), missing.end(), [&](const std::string& end) {
      return name.starts_with(job.name + "-") && name.ends_with(end);
    });
    if (found != missing.end()) {
      missing.erase(found);
    } else {
      violate(1, "one-service-per-replica", fmt::format("{} has a service {}", job.name, name));
    }
  }
  for (const std::string& end : missing) {
    violate(1, "one-service-per-replica", fmt::format("{} has no service for {}", job.name, end.substr(1)));
  }
}

void Checkers::running_job_at_rest(const JobHistory& job, const std::vector<const PodHistory*>& pods) {
  const std::optional<Time> started = parse_rfc3339(kube::text_at(job.status.memory, {"startedAt"}));
  if (job.wish.deadline && started && now_ > *started + seconds(*job.wish.deadline) + seconds(2)) {
    violate(17, "deadline",
            fmt::format("{} should have failed {} ago", job.name,
                        format_duration(now_ - (*started + seconds(*job.wish.deadline)))));
  }
  int running = 0;
  int ended = 0;
  for (const PodHistory* pod : pods) {
    auto wanted = job.wish.replicas.find(pod->facts.role);
    if (wanted == job.wish.replicas.end() || pod->facts.index >= wanted->second) {
      violate(15, "nothing-extra", fmt::format("{} is not asked for", pod->facts.name));
    }
    if (pod->facts.phase == PodPhase::kRunning) ++running;
    if (pod->facts.ended()) ++ended;
    if (pod->facts.phase == PodPhase::kFailed && job.kind == Kind::kTfJob) {
      violate(15, "failures-are-answered",
              fmt::format("{} has failed and {} does nothing", pod->facts.name, job.name));
    }
  }
  int total = 0;
  for (const auto& [role, replicas] : job.wish.replicas) {
    total += replicas;
    for (int index = 0; index < replicas; ++index) {
      const bool there =
          std::any_of(pods.begin(), pods.end(), [&, role = std::string_view(role)](const PodHistory* pod) {
            return pod->facts.role == role && pod->facts.index == index && !pod->facts.deleting &&
                   (pod->facts.ended() || pod->facts.phase == PodPhase::kRunning);
          });
      if (!there && !recorded_success(job.status.memory, role, index)) {
        violate(15, "replicas-run",
                fmt::format("{}: {}-{} neither runs nor has ended", job.name, role, index));
      }
    }
  }
  if (running == 0 && total > 0 && static_cast<int>(pods.size()) == total && ended == total) {
    violate(15, "ends-when-all-ended", fmt::format("{} has no pod left to run and goes on", job.name));
  }
  if (total > 0 && running == total && !job.status.running) {
    violate(15, "running-is-shown", fmt::format("all pods of {} run and it does not say so", job.name));
  }
}

}  // namespace trainyard::sim
