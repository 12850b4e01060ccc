// Checkers about what an operator asks for, whether or not it is granted.
#include <fmt/format.h>

#include "base/match.h"
#include "kube/access.h"
#include "sim/checkers.h"

namespace trainyard::sim {

namespace {

bool is_job(const kube::Resource& resource) {
  return same_type(resource, kube::kTfJobs) || same_type(resource, kube::kT9kJobs) ||
         same_type(resource, kube::kVolcanoJobs);
}

}  // namespace

void Checkers::on_request(int operator_id, const kube::Request& request) {
  now_ = cluster_.now();
  if (same_type(request.resource, kube::kEvents)) return;
  check_fence(operator_id, request);
  std::visit(Match{[](const kube::Get&) {}, [](const kube::List&) {}, [](const kube::Watch&) {},
                   [&](const kube::Create& create) { check_create(operator_id, request, create); },
                   [&](const kube::Update& update) {
                     if (is_job(request.resource) && kube::version_of(update.body) == 0) {
                       violate(12, "versioned-writes", to_string(request) + " names no version");
                     }
                   },
                   [&](const kube::UpdateStatus& update) {
                     if (is_job(request.resource) && kube::version_of(update.body) == 0) {
                       violate(12, "versioned-writes", to_string(request) + " names no version");
                     }
                   },
                   [&](const kube::Patch& patch) {
                     const bool versioned =
                         patch.body.is_object() && kube::version_of(patch.body.get_object()) != 0;
                     if (is_job(request.resource) && patch.part == kube::Part::kStatus && !versioned) {
                       violate(12, "versioned-writes", to_string(request) + " names no version");
                     }
                   },
                   [&](const kube::Delete& order) { check_delete(operator_id, request, order); },
                   [&](const kube::DeleteCollection&) {
                     violate(11, "deletes-name-uids", to_string(request) + " deletes by selector");
                   }},
             request.verb);
}

// 12: who does not hold the lease does not even ask, whatever the clocks are set to.
void Checkers::check_fence(int operator_id, const kube::Request& request) {
  if (!options_.faults.has(Fault::kRival)) return;
  if (lease_holder_ != fmt::format("operator-{}", operator_id)) {
    violate(12, "fence",
            fmt::format("operator-{} asks to {} while {} leads", operator_id, to_string(request),
                        lease_holder_.empty() ? "nobody" : lease_holder_));
  }
}

// 15: what an operator has made, it does not ask for again while it is there.
void Checkers::check_create(int operator_id, const kube::Request& request, const kube::Create& create) {
  const store::Object there = cluster_.find(request.resource, kube::name_of(create.body));
  if (there == nullptr || kube::is_deleting(*there)) return;
  const bool same_owner = kube::controller_uid_of(*there) == kube::controller_uid_of(create.body);
  const bool unclear =
      options_.faults.has(Fault::kApiLostApplied) || options_.faults.has(Fault::kStripLabels);
  if (same_owner && !unclear && made_[operator_id].contains(std::string(kube::uid_of(*there)))) {
    violate(15, "read-your-writes", to_string(request) + ", which it has made itself");
  }
}

// 11: every delete names the uid it means, and means something of a job's.
void Checkers::check_delete(int operator_id, const kube::Request& request, const kube::Delete& order) {
  if (order.options.uid.empty()) {
    violate(11, "deletes-name-uids", to_string(request) + " names no uid");
    return;
  }
  const store::Object there = cluster_.find(request.resource, order.name);
  if (there == nullptr || kube::uid_of(*there) != order.options.uid || is_job(request.resource)) return;
  if (same_type(request.resource, kube::kVolcanoCommands)) return;
  auto pod = pods_.find(order.options.uid);
  const std::string owner =
      pod != pods_.end() ? pod->second.facts.job_uid : std::string(kube::controller_uid_of(*there));
  JobHistory* job = job_of(owner);
  auto orphan = orphaned_.find(order.options.uid);
  const bool let_go_since = orphan != orphaned_.end() && orphan->second > sight_of(operator_id).revision;
  if (job == nullptr && let_go_since) return;
  if (job == nullptr) {
    violate(11, "foreign-objects", to_string(request) + ", which belongs to no job");
    return;
  }
  // Who deletes a job and keeps what it made wants it kept.
  if (job->orphaning && job->spec_changed <= sight_of(operator_id).revision) {
    violate(11, "orphans-stay", to_string(request) + ", which is to outlive its job");
  }
  if (pod != pods_.end() && job->spec_changed <= sight_of(operator_id).revision) {
    check_pod_delete(pod->second, *job);
  }
}

// A pod of a job that goes on is deleted only once the job says why: the intent is
// written first, and it counts what it costs (invariants 3 and 5).
void Checkers::check_pod_delete(const PodHistory& pod, JobHistory& job) {
  if (job.status.terminal() || job.deleting || job.gone || job.wish.suspended || job.status.stopped) return;
  if (pod.facts.deleting || job.kind == Kind::kVolcano) return;
  if (!is_made_for(job, pod)) return;
  auto wanted = job.wish.replicas.find(pod.facts.role);
  if (wanted == job.wish.replicas.end() || pod.facts.index >= wanted->second) return;
  const std::string_view phase = kube::text_at(job.status.memory, {"phase"});
  if (phase == "Pausing" || phase == "Paused" || phase == "Completing" || phase == "Terminating") return;
  if (recorded_attempt(job.status.memory, pod.facts.role, pod.facts.index) <= pod.facts.attempt) {
    violate(5, "intent-first",
            fmt::format("{} of attempt {} is deleted before the job says why", pod.facts.name,
                        pod.facts.attempt));
  }
  if (!pod.failed_itself || job.scaled || job.ever_stopped || job.wish.scope == "role" ||
      job.wish.scope == "job")
    return;
  job.replaced.insert(pod.facts.uid);
  const auto replaced = static_cast<int>(job.replaced.size());
  const auto charged = static_cast<int>(kube::int_at(job.status.memory, {"restarts"}).value_or(0));
  if (charged < replaced && !options_.faults.has(Fault::kRival)) {
    violate(
        5, "restarts-are-charged",
        fmt::format("{}: failed pods were replaced {} times, {} were charged", job.name, replaced, charged));
  }
}

}  // namespace trainyard::sim
