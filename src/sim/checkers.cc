#include "sim/checkers.h"

#include <fmt/format.h>

#include "kube/access.h"

namespace trainyard::sim {

std::string to_string(const Violation& violation) {
  return fmt::format("invariant {} ({}) at revision {}, {}: {}", violation.invariant, violation.checker,
                     violation.revision, format_rfc3339(violation.at), violation.text);
}

Checkers::Checkers(const Options& options, const Cluster& cluster)
    : options_(options), cluster_(cluster), revision_(cluster.store().revision()) {}

void Checkers::violate(int invariant, std::string_view checker, std::string text) {
  if (violations_.size() >= kViolationsMax) return;
  violations_.push_back({invariant, std::string(checker), std::move(text), now_, revision_});
}

Checkers::JobHistory* Checkers::job_of(const std::string& uid) {
  auto found = jobs_.find(uid);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::vector<const Checkers::PodHistory*> Checkers::pods_of(const std::string& uid) const {
  std::vector<const PodHistory*> pods;
  for (const auto& [pod_uid, pod] : pods_) {
    if (pod.facts.job_uid == uid) pods.push_back(&pod);
  }
  return pods;
}

Sight Checkers::sight_of(int operator_id) const {
  auto found = sights_.find(operator_id);
  return found == sights_.end() ? Sight{} : found->second;
}

void Checkers::boots(int operator_id) { made_[operator_id].clear(); }

// 13: every change is one revision more, and is told once.
void Checkers::on_change(const Change& change) {
  now_ = change.at;
  if (change.revision != revision_ + 1) {
    violate(13, "revisions", fmt::format("revision {} follows {}", change.revision, revision_));
  }
  revision_ = change.revision;
  const json::object& object = change.after ? *change.after : *change.before;
  if (change.after && kube::version_of(object) != change.revision) {
    violate(13, "revisions",
            fmt::format("an object of revision {} says {}", change.revision, kube::version_of(object)));
  }
  if (!change.after) {
    for (auto& [id, made] : made_) made.erase(std::string(kube::uid_of(object)));
  } else if (!change.before && change.author.hand == Hand::kOperator) {
    made_[change.author.process_id].insert(std::string(kube::uid_of(object)));
  }
  if (change.before && change.after && change.author.hand == Hand::kCollector &&
      kube::controller_uid_of(object).empty() && !kube::controller_uid_of(*change.before).empty()) {
    orphaned_.insert_or_assign(std::string(kube::uid_of(object)), change.revision);
  }
  if (change.resource == &kube::kPods) return pod_changed(change);
  if (change.resource == &kube::kLeases) {
    lease_holder_ = change.after ? std::string(kube::text_at(object, {"spec", "holderIdentity"})) : "";
    return;
  }
  if (change.resource == &kube::kServices) {
    if (!change.before) service_created(change);
    return;
  }
  if (change.resource == &kube::kVolcanoPodGroups) {
    const std::string_view phase = kube::text_at(object, {"status", "phase"});
    if (!phase.empty() && phase != "Pending") let_in_.insert(std::string(kube::uid_of(object)));
    return;
  }
  if (change.resource == &kube::kEvents) {
    if (change.after && change.author.hand == Hand::kOperator) event_written(object);
    return;
  }
  if (change.resource == &kube::kSecrets) return secret_changed(change);
  if (change.resource == &kube::kTensorBoards) return board_changed(change);
  if (change.resource == &kube::kVolcanoCommands && !change.before) {
    if (JobHistory* job = job_of(std::string(kube::text_at(object, {"target", "uid"}))))
      job->commanded = true;
    return;
  }
  for (Kind kind : {Kind::kTfJob, Kind::kT9k, Kind::kVolcano}) {
    if (change.resource == &resource_of(kind)) return job_changed(change, kind);
  }
}

void Checkers::not_silent(int64_t writes, std::string_view what) {
  now_ = cluster_.now();
  violate(15, "silence", fmt::format("{} writes although nothing had changed, the last: {}", writes, what));
}

void Checkers::found(int invariant, std::string_view checker, std::string text) {
  now_ = cluster_.now();
  violate(invariant, checker, std::move(text));
}

void Checkers::not_converged(std::string_view what) {
  now_ = cluster_.now();
  violate(15, "convergence", std::string(what));
}

}  // namespace trainyard::sim
